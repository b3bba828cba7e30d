// delegations keys: manages API keys for the operator.

import { type Accounts, type CreatedKey, isActive, type KeyRecord } from '../accounts/accounts.ts';
import { LABEL_RULE, readLabel } from '../accounts/label.ts';
import { LIMIT_RULE, parseLimit } from '../http/limits/limiter.ts';
import { UsageError } from '../service/terminal.ts';
import type { Command, Invocation } from './command.ts';
import { dateOf, logChange, writeOut, writeWhole } from './output.ts';
import { printRecords, readAction, withAccounts } from './records.ts';

type Action = (typeof ACTIONS)[number];
const ACTIONS = ['create', 'list', 'revoke', 'rotate', 'limit'] as const;

export const keys: Command = {
  name: 'keys',
  summary: 'create, list, revoke, rotate and limit API keys',
  usage: 'create --label <text> | list | revoke <id> | rotate <id> | limit <id> <limit>',
  about: `Works on the database of DATABASE_URL, also while a service runs on it. A key is shown only once, when it is created: the
database stores its hash. A revoked key stops working within two seconds, and a new limit applies within two seconds. <limit> is
<requests>/<seconds>s, off (no limit) or default (the service's KEY_LIMIT).`,
  operands: [1, 3],
  choices: ACTIONS,
  options: {
    label: { value: '<text>', about: 'create: what the key is for' },
    expires: { value: '<days>', about: 'create: days until the key expires [never]' },
    overlap: { value: '<hours>', about: 'rotate: hours until the old key expires [24]' },
    json: { about: 'print the result as JSON' },
  },
  examples: [
    'delegations keys create --label "mint site" --expires 365',
    'delegations keys list',
    'delegations keys rotate 3 --overlap 48',
    'delegations keys revoke 3',
    'delegations keys limit 3 100/10s',
  ],
  async run(call) {
    const { action, id } = readAction('key', call, ACTIONS, ['create', 'list']);
    const [, , limit] = call.operands;
    if (limit !== undefined && action !== 'limit') throw new UsageError(`Unexpected argument: ${limit}.`);
    await withAccounts(call, (accounts) => RUN[action]({ id, call, accounts, now: Math.floor(Date.now() / 1000) }));
  },
};

interface Work {
  readonly id: number;
  readonly call: Invocation;
  readonly accounts: Accounts;
  /** Unix seconds. */
  readonly now: number;
}

const HOUR_SECONDS = 3600;
const DAY_SECONDS = 86_400;

const RUN: Readonly<Record<Action, (work: Work) => Promise<void>>> = {
  async create({ call, accounts, now }) {
    const label = readLabel(call.text('label'));
    if (label === null) throw new UsageError(`--label is missing or invalid. It must be ${LABEL_RULE}.`);
    const days = call.number('expires');
    if (days === 0) throw new UsageError('--expires must be at least 1 day.');
    const expiresAt = days === undefined ? null : now + days * DAY_SECONDS;
    const created = (await accounts.create({ label, expiresAt, now })) as CreatedKey;
    logChange('key created', { keyId: created.record.id });
    await show(created, call);
  },
  async rotate({ id, call, accounts, now }) {
    const created = await accounts.rotate({ id, now, overlapSeconds: (call.number('overlap') ?? 24) * HOUR_SECONDS });
    if (typeof created === 'string') throw new UsageError(`No active key with id ${id}. See delegations keys list.`);
    logChange('key rotated', { keyId: id, newKeyId: created.record.id });
    await show(created, call);
  },
  async revoke({ id, call, accounts, now }) {
    if (!(await accounts.revoke(id, now)))
      throw new UsageError(`No active key with id ${id}. See delegations keys list.`);
    logChange('key revoked', { keyId: id });
    await writeOut(call.isSet('json') ? `${JSON.stringify({ id, revoked: true })}\n` : `Key ${id} revoked.\n`);
  },
  list: ({ call, accounts, now }) =>
    printRecords<KeyRecord>(call.isSet('json'), {
      records: 'keys',
      list: accounts.list,
      jsonOf: (record) => record,
      names: NAMES,
      cellsOf: (record) => cellsOf(record, now),
    }),
  limit: setLimit,
};

async function setLimit({ id, call, accounts }: Work): Promise<void> {
  const [, , text] = call.operands;
  const rule = `It must be ${LIMIT_RULE}; or off, or default.`;
  if (text === undefined) throw new UsageError(`Missing limit. Usage: delegations keys limit <id> <limit>. ${rule}`);
  const limit = parseLimit(text);
  if (limit === null && text !== 'off' && text !== 'default') throw new UsageError(`Invalid limit: ${text}. ${rule}`);
  const rateLimit = text === 'default' ? null : text;
  if (!(await accounts.setLimit(id, rateLimit)))
    throw new UsageError(`No key with id ${id}. See delegations keys list.`);
  const shown =
    limit === null
      ? { off: 'no limit', default: 'the default limit' }[text]
      : `at most ${limit.most} requests in any ${limit.seconds} seconds`;
  logChange('key limited', { keyId: id, limit: text });
  await writeOut(call.isSet('json') ? `${JSON.stringify({ id, rateLimit })}\n` : `Key ${id}: ${shown}.\n`);
}

async function show({ record, text }: CreatedKey, call: Invocation): Promise<void> {
  if (call.isSet('json')) await writeWhole(`${JSON.stringify({ ...record, key: text })}\n`);
  else {
    await writeWhole(`${text}\n`);
    process.stderr.write(`Key ${record.id}, “${record.label}”. Copy it now: it will not be shown again.\n`);
  }
}

const NAMES = ['ID', 'KEY', 'LABEL', 'OWNER', 'CREATED', 'STATE', 'LIMIT', 'LAST USED'];

function cellsOf(record: KeyRecord, now: number): string[] {
  const { id, shown, label, owner, createdAt, expiresAt, revokedAt, lastUsedAt, rateLimit } = record;
  const end = Math.min(revokedAt ?? Number.POSITIVE_INFINITY, expiresAt ?? Number.POSITIVE_INFINITY);
  const ended = revokedAt !== null && revokedAt <= now ? 'revoked' : 'expired';
  const active = Number.isFinite(end) ? `active until ${dateOf(end)}` : 'active';
  return [
    String(id),
    `${shown}…`,
    label,
    owner ?? 'operator',
    dateOf(createdAt),
    isActive(record, now) ? active : ended,
    rateLimit ?? 'default',
    lastUsedAt === null ? 'never' : dateOf(lastUsedAt),
  ];
}
