"""Impacts of lone bodies at the instant at which they touch, not in the middle of the step.

In: contacts of the middle, and how fast they close. Out: when, where and along which rows impacts act, and what carries
their bodies until then.
"""
