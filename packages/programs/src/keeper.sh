# Runs one program, and ends it when nobody vouches for it any more.
#
#   bash keeper.sh ARGV0 EXECUTABLE [ARGUMENT…]
#
# It must lead a process group of its own: the group is what it ends. Three processes:
#
#   keeper ─┬─ guard     reads fd 3: each line is the time, in seconds, for which the program may go on without another line
#           └─ program   has neither fd 3 nor fd 4
#
# Nothing starts before the first line of fd 3. When a time is over, or fd 3 is closed because its writer is dead, the guard ends the
# whole group with SIGKILL. Two processes, since the one must wait for input and the other for the program, and bash does both at a
# time only with signal handlers whose behaviour differs between its versions.
#
# On fd 4 it says: `guarded` and `pid N`, after which signals to the group reach the program and nobody else; `fenced` when a time was
# over; `status N`, as the shell counts, when the program has ended and was reaped. After that nothing of the group is left.

# The decimal point of `read -t` is the locale's. Not exported.
LC_ALL=C

argv0=$1
shift
read -r -t 10 -u 3 left || exit

guard() {
  # What is meant for the program must not end its guard, nor must a parent that is dead and cannot be told.
  trap '' HUP INT QUIT PIPE TERM USR1 USR2
  echo guarded >&4
  # Zero would make `read` look without reading, for ever.
  while [[ $left =~ ^[0-9]+(\.[0-9]+)?$ && $left =~ [1-9] ]]; do
    read -r -t "$left" -u 3 left && continue
    # Above 128: the time is over. Otherwise there is nobody to tell.
    (($? > 128)) && echo fenced >&4
    break
  done
  kill -KILL -- "-$$"
}

# What the shell says of its children is nobody's concern: the output is the program's alone.
exec 5>&1 6>&2 >/dev/null 2>&1
guard </dev/null 5>&- 6>&- &
guard=$!

# Nothing may be trapped in this shell yet: between its fork and its exec the program would have these traps, and lose a signal to
# them. What the shell ignores for commands in the background is restored.
(
  trap - INT QUIT
  unset -v SHLVL OLDPWD _
  exec -a "$argv0" -- "$@" </dev/null >&5 2>&6 3<&- 4>&- 5>&- 6>&-
) &
program=$!

# Ignored, not handled: a `wait` of bash that is interrupted while its child ends may lose it, and wait for ever.
trap '' HUP INT QUIT PIPE TERM USR1 USR2
exec 3<&- 5>&- 6>&-
echo "pid $program" >&4
wait "$program"
status=$?

# The guard is reaped here: the parent may be process 1 of a container, which does not reap what it did not start.
kill -KILL "$guard"
wait "$guard"
echo "status $status" >&4
# And what the program has left behind.
kill -KILL -- "-$$"
