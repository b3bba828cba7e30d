// Says a problem of the API in the words of the owner of a wallet: fields and networks by name, long times in hours and days, and no
// codes of nodes.

import { describeProblem, type ProblemBody } from '../api/problems.ts';
import { NETWORKS } from '../registry/network.ts';
import { durationText } from './time-text.ts';

/** What the forms call the parameters. */
export const FIELD_NAMES = {
  block: 'As of',
  timestamp: 'As of',
  to: 'Hot wallet',
  from: 'Cold wallet',
  contract: 'Contract',
  tokenId: 'Token id',
  rights: 'Rights',
  chainId: 'Chain',
} as const;
const nameOf = (parameter: string) => new Map<string, string>(Object.entries(FIELD_NAMES)).get(parameter) ?? parameter;

export const problemWords = <Body extends Partial<ProblemBody>>(problem: Body) =>
  inWords(describeProblem(problem, nameOf));

const inWords = <Text extends string | undefined>(text: Text): Text =>
  text
    ?.replace(/\bchain (\d+)\b/gi, (name, id) => NETWORKS.get(Number(id))?.name ?? name)
    .replace(/\b(\d+) seconds\b/g, (_, seconds) => durationText(Number(seconds)))
    .replace(/All of its providers are unhealthy: .*$/, 'None of the nodes that it is read from answers.') as Text;
