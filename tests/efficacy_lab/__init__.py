"""Does it train? A tiny decoder is trained from nothing on exported rows and acts in our environments."""
