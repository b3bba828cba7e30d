// The delegations in what the v2 registry's two list functions return.

import { type Delegation, KINDS, type Kind } from './delegation.ts';
import { asAddress, BadReturnDataError, rowsOf } from './return-data.ts';

const KIND_OF_TYPE: Readonly<Record<string, Kind>> = { 1: 'ALL', 2: 'CONTRACT', 3: 'ERC721', 4: 'ERC20', 5: 'ERC1155' };
const COLUMNS = 7;

export function decodeV2List(data: string): Delegation[] {
  return rowsOf('list', data, COLUMNS).map(([type, to, from, rights, contract, tokenId, amount]) => {
    const kind = KIND_OF_TYPE[String(BigInt(`0x${type}`))];
    if (kind === undefined) throw new BadReturnDataError(`list: no type ${type}`);
    const has = KINDS[kind];
    return {
      version: 2,
      kind,
      from: asAddress(from),
      to: asAddress(to),
      contract: has.contract ? asAddress(contract) : null,
      tokenId: has.tokenId ? BigInt(`0x${tokenId}`) : null,
      rights: `0x${rights}`,
      amount: has.amount ? BigInt(`0x${amount}`) : null,
    };
  });
}
