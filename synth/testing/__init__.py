"""What tests of ours and of plugins share: contract tests, small corpora, planted tasks, a model server."""
