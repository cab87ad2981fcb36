"""Where people meet the product: command line, reports, web pages."""
