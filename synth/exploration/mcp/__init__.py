"""Tasks on any server of the Model Context Protocol: its state is seen only through its own reading tools."""
