module hangar.local/bench/load

go 1.25
