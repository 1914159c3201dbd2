module hangar.local/bench/tenants/load

go 1.25
