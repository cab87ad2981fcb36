"""What there is to understand about a seed question, as data: topics, learning rules and outcomes."""

from knowledge.loader import TopicBank, load_topics
from knowledge.rules import Learning, Outcomes, load_learning, load_outcomes
from knowledge.topic import Topic

__all__ = ["Learning", "Outcomes", "Topic", "TopicBank", "load_learning", "load_outcomes", "load_topics"]
