"""The methods the paper compares with, each a function from examples to codebooks.

They live here, not in the package, because some rest on packages under other licences.
"""
