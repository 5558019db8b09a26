"""What ``synth validate`` proves: rules on rows, tables and the sums of the report."""
