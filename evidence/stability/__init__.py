"""How much of a selection stays when the data change a little."""
