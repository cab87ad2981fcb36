import sys

from frontdesk.cli import main

sys.exit(main())
