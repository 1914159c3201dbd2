# What every step can use. NS is the case's namespace, and a prefix for the names of cluster-scoped objects.
set -o pipefail

# Output of explain without the descriptions, which Hangar does not carry for built-in kinds: kinds, versions, field
# names, types, enumerations and what is required remain.
without_prose() {
  awk '
    /^DESCRIPTION:/ { skipping = 1; next }
    /^FIELDS?:/ { skipping = 0 }
    skipping { next }
    /^    / && !/\t</ && !/^ *enum:/ { next }
    NF { print }
  '
}

# Tries until it succeeds: a real server shows a new CustomResourceDefinition late in discovery and OpenAPI.
eventually() {
  for attempt in $(seq 100); do
    if "$@" >eventually.out 2>eventually.err; then break; fi
    sleep 0.2
  done
  "$@"
}

# Runs the first command (a watch) while the second one changes something; prints what the watch said until it has been
# silent for a while. The watch has listed once its first line is there, or after some seconds if it lists nothing.
while_watching() {
  : >watch.out
  : >watch.err
  bash -c "exec $1" >>watch.out 2>>watch.err &
  local watcher=$!
  for attempt in $(seq 25); do
    if [ -s watch.out ] || [ -s watch.err ]; then break; fi
    sleep 0.1
  done
  sleep 0.3
  eval "$2" >change.out 2>&1 || { echo "the change failed:"; cat change.out; }
  local size=-1
  for attempt in $(seq 20); do
    local now=$(stat -c %s watch.out)
    if [ "$now" = "$size" ]; then break; fi
    size=$now
    sleep 0.7
  done
  kill -INT $watcher 2>/dev/null
  wait $watcher 2>/dev/null
  cat watch.out
  cat watch.err >&2
  return 0
}
