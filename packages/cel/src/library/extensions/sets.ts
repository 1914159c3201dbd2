/** Lists as sets: contains, equivalent, intersects. */

import { overload } from '../../environment.ts';
import type { Library } from '../../environment.ts';
import * as t from '../../types.ts';
import { contains } from '../../values/equality.ts';
import type { CelList } from '../../values/list.ts';

const list = t.listOf(t.param('T'));
const includesAll = (a: CelList, b: CelList): boolean => b.toArray().every((element) => contains(a, element));

export const sets: Library = {
  name: 'sets',
  functions: {
    'sets.contains': [overload('list_sets_contains_list', [list, list], t.boolType, includesAll)],
    'sets.equivalent': [
      overload(
        'list_sets_equivalent_list',
        [list, list],
        t.boolType,
        (a: CelList, b: CelList) => includesAll(a, b) && includesAll(b, a),
      ),
    ],
    'sets.intersects': [
      overload('list_sets_intersects_list', [list, list], t.boolType, (a: CelList, b: CelList) =>
        a.toArray().some((element) => contains(b, element)),
      ),
    ],
  },
};
