"""What is asked: questions and requests, how they are worded, and the checks that each must pass."""
