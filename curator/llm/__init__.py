"""Ask language models, and keep account of it; the only room that talks to one."""
