// Where the registries stand.

import type { Address } from './delegation.ts';
import type { Version } from './versions.ts';

/** On every chain but those of the zkSync type. */
export const ADDRESSES: { readonly [V in Version]: Address } = {
  1: '0x00000000000076a84fef008cdabe6409d2fe638b',
  2: '0x00000000000000447e69651d841bd8d104bed493',
};

/** On chains of the zkSync type an address depends on more than the deployer's salt. */
export const V2_ON_ZKSYNC: Address = '0x0000000059a24eb229eed07ac44229db56c5d797';
