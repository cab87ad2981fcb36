"""The leaderboard of anybody's battles."""
