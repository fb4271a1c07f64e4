"""The site: static pages to read, search and filter the dialogues of builds."""
