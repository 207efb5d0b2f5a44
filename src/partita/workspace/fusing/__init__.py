"""Fusion as the shells call it: of claims in files, and of answers to the exam of 1992."""
