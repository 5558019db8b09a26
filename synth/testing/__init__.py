"""What outside packages test with: the contract of environments as a test suite, and a small collection with tasks."""
