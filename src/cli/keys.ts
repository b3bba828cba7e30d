// delegations keys: manages API keys for the operator.

import { type Accounts, type CreatedKey, isActive, type KeyRecord, openAccounts } from '../accounts/accounts.ts';
import { LABEL_RULE, readLabel } from '../accounts/label.ts';
import { readConfig } from '../service/config.ts';
import { createLog } from '../service/log.ts';
import { UsageError } from '../service/usage-error.ts';
import type { Command, Invocation } from './command.ts';
import { writeOut, writeWhole } from './output.ts';
import { dateOf, tableOf } from './question-options.ts';

const ACTIONS = ['create', 'list', 'revoke', 'rotate'] as const;

export const keys: Command = {
  name: 'keys',
  summary: 'create, list, revoke and rotate API keys',
  usage: 'create --label <text> | list | revoke <id> | rotate <id>',
  about: `Works on the database of DATABASE_URL, also while a service runs on it. A key is shown only once, when it is created: the
database stores its hash. A revoked key stops working within two seconds.`,
  operands: [1, 2],
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
  ],
  async run(call) {
    const [action = '', id] = call.operands;
    if (!ACTIONS.some((one) => one === action))
      throw new UsageError(`Unknown action: ${action}. Use one of ${ACTIONS.join(', ')}.`);
    const needsId = action === 'revoke' || action === 'rotate';
    if (needsId ? !/^\d{1,15}$/.test(id ?? '') : id !== undefined)
      throw new UsageError(
        needsId
          ? `Missing key id. Usage: delegations keys ${action} <id>`
          : `Unexpected argument: ${id}. keys ${action} takes no id.`,
      );
    const accounts = await openAccounts(readConfig(call.environment).databaseUrl);
    try {
      await runAction(action as (typeof ACTIONS)[number], Number(id), call, accounts);
    } finally {
      await accounts.close();
    }
  },
};

const HOUR_SECONDS = 3600;
const DAY_SECONDS = 86_400;

async function runAction(
  action: (typeof ACTIONS)[number],
  id: number,
  call: Invocation,
  accounts: Accounts,
): Promise<void> {
  const now = Math.floor(Date.now() / 1000);
  const asJson = call.isSet('json');
  switch (action) {
    case 'create': {
      const label = readLabel(call.text('label'));
      if (label === null) throw new UsageError(`--label is missing or invalid. It must be ${LABEL_RULE}.`);
      const days = call.number('expires');
      if (days === 0) throw new UsageError('--expires must be at least 1 day.');
      const expiresAt = days === undefined ? null : now + days * DAY_SECONDS;
      const created = (await accounts.create({ label, expiresAt, now })) as CreatedKey;
      logChange('key created', { keyId: created.record.id });
      return show(created, asJson);
    }
    case 'rotate': {
      const created = await accounts.rotate(id, now, (call.number('overlap') ?? 24) * HOUR_SECONDS);
      if (created === null) throw new UsageError(`No active key with id ${id}. See delegations keys list.`);
      logChange('key rotated', { keyId: id, newKeyId: created.record.id });
      return show(created, asJson);
    }
    case 'revoke': {
      if (!(await accounts.revoke(id, now)))
        throw new UsageError(`No active key with id ${id}. See delegations keys list.`);
      logChange('key revoked', { keyId: id });
      await writeOut(asJson ? `${JSON.stringify({ id, revoked: true })}\n` : `Key ${id} revoked.\n`);
      return;
    }
    case 'list': {
      const all = await accounts.list();
      const text =
        all.length === 0
          ? 'No keys yet.'
          : tableOf(
              NAMES,
              all.map((one) => cellsOf(one, now)),
            );
      await writeOut(`${asJson ? JSON.stringify(all) : text}\n`);
    }
  }
}

/** For the log of whatever runs this command. On a terminal, the result says the same. */
function logChange(message: string, fields: object): void {
  if (process.stderr.isTTY) return;
  createLog('info', (line) => void process.stderr.write(line))('info', message, { ...fields, by: 'operator' });
}

async function show({ record, text }: CreatedKey, asJson: boolean): Promise<void> {
  if (asJson) await writeWhole(`${JSON.stringify({ ...record, key: text })}\n`);
  else {
    await writeWhole(`${text}\n`);
    process.stderr.write(`Key ${record.id}, “${record.label}”. Copy it now: it will not be shown again.\n`);
  }
}

const NAMES = ['ID', 'KEY', 'LABEL', 'OWNER', 'CREATED', 'STATE', 'LAST USED'];

function cellsOf(record: KeyRecord, now: number): string[] {
  const { id, shown, label, owner, createdAt, expiresAt, revokedAt, lastUsedAt } = record;
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
    lastUsedAt === null ? 'never' : dateOf(lastUsedAt),
  ];
}
