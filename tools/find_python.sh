#!/bin/sh
# Print the path of the Python of version $1, on the path or among pyenv's; fail if there is none.
python"$1" -c 'import sys; print(sys.executable)' 2>/dev/null && exit
version=$(pyenv latest "$1" 2>/dev/null) && echo "$(pyenv prefix "$version")/bin/python"
