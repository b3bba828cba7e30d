// What changed, as JSON.

import { DELEGATION_CHANGE, UNDO } from '../api/changes-operation.ts';
import { booleanText, integerText, type JsonText, plainText, stringify, writerFor } from '../api/json-text.ts';
import type { NumberMode } from '../api/params.ts';
import { BLOCK } from '../api/responses.ts';
import type { AnswerBlock, Change } from '../store/store.ts';
import { anyRecordText } from './json.ts';

interface Format {
  readonly chainId: number;
  readonly mode: NumberMode;
}

const blockText = ({ number, hash, timestamp }: AnswerBlock) => stringify(BLOCK, { number, hash, timestamp });

const write = writerFor<Change, Format>()(DELEGATION_CHANGE, {
  type: ({ type }) => plainText(type),
  chainId: (_, { chainId }) => integerText(chainId),
  block: ({ block }) => blockText(block),
  transactionHash: ({ transactionHash }) => plainText<string>(transactionHash),
  logIndex: ({ logIndex }) => integerText(logIndex),
  final: ({ isFinal }) => booleanText(isFinal),
  delegation: ({ delegation }, format) => anyRecordText(delegation, format),
});

export const changeText = (change: Change, format: Format) => write(change, format);

export const undoText = (block: AnswerBlock, chainId: number): JsonText<unknown> => {
  const { number, hash, timestamp } = block;
  return stringify(UNDO, { type: 'undo', chainId, block: { number, hash, timestamp } });
};
