# SPDX-License-Identifier: BSD-3-Clause
# bash completion for lull: the command itself knows what may follow.
_lull()
{
	local kind value

	COMPREPLY=()
	while IFS=, read -r kind value; do
		case $kind in
		file) compopt -o default ;;
		dir) compopt -o dirnames ;;
		*) COMPREPLY+=("$value") ;;
		esac
	done < <(COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD=$COMP_CWORD \
		_LULL_COMPLETE=bash_complete "$1" 2>/dev/null)
}
complete -o nosort -F _lull lull
