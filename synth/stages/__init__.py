"""One module per stage; ``contract`` says what a stage is. No stage imports another."""
