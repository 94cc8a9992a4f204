"""Facts of our own: would someone get the right answer from this output?"""
