module hangar/tests/nodes/pause

go 1.26.0
