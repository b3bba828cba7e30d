// delegations webhooks: manages webhooks for the operator.

import { NETWORKS } from '../registry/network.ts';
import { type Config, readConfig } from '../service/config.ts';
import { targetRules } from '../service/start-api.ts';
import { learnNetworks } from '../service/stored-networks.ts';
import { UsageError } from '../service/terminal.ts';
import { StoreError } from '../store/errors.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { createSecret } from '../webhooks/sign.ts';
import { replayCursor, startCursor } from '../webhooks/source.ts';
import { attemptJson, webhookJson } from '../webhooks/webhook-json.ts';
import { FieldFault, readReplay, readSubscription } from '../webhooks/webhook-request.ts';
import { type Attempt, createWebhooks, type WebhookRecord, type Webhooks } from '../webhooks/webhooks.ts';
import type { Command, Invocation } from './command.ts';
import { logChange, tableOf, writeOut, writeWhole } from './output.ts';
import { printRecords, readAction, withAccounts } from './records.ts';

const ACTIONS = ['create', 'list', 'show', 'pause', 'resume', 'rotate', 'test', 'replay', 'remove'] as const;
type Action = (typeof ACTIONS)[number];

export const webhooks: Command = {
  name: 'webhooks',
  summary: 'create, list, test, replay, pause and remove webhooks',
  usage: 'create --url <url> | list | show <id> | pause|resume|rotate|test|remove <id> | replay <id> --block <block>',
  about: `Works on the database of DATABASE_URL, also while a service runs on it. The service delivers what changes from now on; replay
goes back. A secret is shown only once, when it is created or rotated: the receiver verifies signatures with it. After
a rotation, deliveries are signed with both secrets for --overlap hours. test sends one delivery without changes. The first one is a
challenge: nothing else is sent before the receiver has answered with it, unless the webhook was created with --confirmed.`,
  operands: [1, 2],
  choices: ACTIONS,
  options: {
    url: { value: '<url>', about: 'create: where to deliver, https://…' },
    label: { value: '<text>', about: 'create: what the webhook is for' },
    chain: { value: '<ids>', about: 'create: chain ids, separated by commas [served]; replay: the chain of --block' },
    wallet: { value: '<address>', about: 'create: only delegations from or to this wallet' },
    from: { value: '<address>', about: 'create: only delegations from this cold wallet' },
    to: { value: '<address>', about: 'create: only delegations to this hot wallet' },
    contract: { value: '<address>', about: 'create: only delegations limited to this contract' },
    at: {
      value: '<point>',
      about: 'create: deliver when a block is final, or at the head with undo [final]',
      choices: ['final', 'head'],
    },
    confirmed: { about: 'create: the receiver agrees, so it gets no challenge' },
    block: { value: '<block>', about: 'replay: first block to deliver again, or start for all history' },
    overlap: { value: '<hours>', about: 'rotate: hours that the old secret signs too [24]' },
    json: { about: 'print the result as JSON' },
  },
  examples: [
    'delegations webhooks create --url https://example.com/webhook --chain 1,8453',
    'delegations webhooks create --url https://hooks.internal/delegations --confirmed',
    'delegations webhooks list',
    'delegations webhooks show 3',
    'delegations webhooks test 3',
    'delegations webhooks replay 3 --chain 1 --block 19000000',
    'delegations webhooks resume 3',
  ],
  async run(call) {
    const { action, id } = readAction('webhook', call, ACTIONS, ['create', 'list']);
    const config = readConfig(call.environment);
    await withAccounts(call, ({ engine }) =>
      RUN[action]({ id, call, config, webhooks: createWebhooks(engine), now: Date.now() }),
    );
  },
};

interface Work {
  readonly id: number;
  readonly call: Invocation;
  readonly config: Config;
  readonly webhooks: Webhooks;
  /** Unix milliseconds. */
  readonly now: number;
}

const HOUR_MS = 3_600_000;

const RUN: Readonly<Record<Action, (work: Work) => Promise<void>>> = {
  async create({ call, config, webhooks, now }) {
    if (call.text('url') === undefined)
      throw new UsageError('--url is missing. Example: --url https://example.com/webhook');
    await withStore(config, async (store, served) => {
      const given = givenFields(call, CREATE_FIELDS);
      const subscription = readSubscription(given, { rules: targetRules(config), served });
      if (subscription instanceof FieldFault) throw usageError(subscription);
      const cursor = await startCursor(subscription, { store, chainIds: served });
      const secret = createSecret();
      const isConfirmed = call.isSet('confirmed');
      const created = await webhooks.create({ ...subscription, owner: null, cursor, secret, now, isConfirmed });
      // Only a wallet has a quota and needs a key.
      if (typeof created === 'string') throw new Error(`The webhook was refused: ${created}`);
      logChange('webhook created', { webhookId: created.id });
      await showSecret(created, secret, call);
    });
  },
  list: ({ call, webhooks }) =>
    printRecords<WebhookRecord>(call.isSet('json'), {
      records: 'webhooks',
      list: webhooks.list,
      jsonOf: webhookJson,
      names: NAMES,
      cellsOf,
    }),
  async show({ id, call, webhooks }) {
    const record = await requireWebhook(webhooks, id);
    const attempts = await webhooks.attempts(id);
    if (call.isSet('json'))
      return writeOut(
        `${JSON.stringify({ ...webhookJson(record), attempts: attempts.map((one) => attemptJson(id, one)) })}\n`,
      );
    await writeOut(`${describe(record)}\n\n${attemptTable(attempts)}\n`);
  },
  async pause({ id, call, webhooks, now }) {
    await requireWebhook(webhooks, id);
    if (!(await webhooks.pause(id, now))) throw new UsageError(`Webhook ${id} is already paused.`);
    await report(id, 'paused', 'paused. It keeps its place: see delegations webhooks resume.', call);
  },
  async resume({ id, call, webhooks }) {
    await requireWebhook(webhooks, id);
    if (!(await webhooks.resume(id))) throw new UsageError(`Webhook ${id} is not paused.`);
    await report(id, 'resumed', 'resumed.', call);
  },
  async rotate({ id, call, webhooks, now }) {
    const secret = createSecret();
    const overlapMs = (call.number('overlap') ?? 24) * HOUR_MS;
    if (!(await webhooks.rotateSecret({ id, secret, now, overlapMs }))) throw missing(id);
    logChange('webhook rotated', { webhookId: id });
    await showSecret(await requireWebhook(webhooks, id), secret, call);
  },
  async test({ id, call, webhooks, now }) {
    if (!(await webhooks.requestTest(id, now))) throw missing(id);
    await report(id, 'tested', `is sent a test. See delegations webhooks show ${id}.`, call);
  },
  async replay({ id, call, config, webhooks }) {
    const record = await requireWebhook(webhooks, id);
    await withStore(config, async (store, served) => {
      const from = readReplay(givenFields(call, REPLAY_FIELDS), record, served);
      if (from instanceof FieldFault) throw usageError(from);
      const cursor = await replayCursor(record, from, { store }).catch((error) => {
        if (!(error instanceof StoreError && error.code === 'not-started')) throw error;
        throw new UsageError(`--chain ${call.text('chain')} has no blocks yet.`);
      });
      if (!(await webhooks.replayFrom(id, cursor))) throw missing(id);
      const where = from === 'start' ? 'the start of history' : `block ${from.block} of chain ${from.chainId}`;
      await report(id, 'replayed', `continues from ${where}.`, call);
    });
  },
  async remove({ id, call, webhooks }) {
    if (!(await webhooks.remove(id))) throw missing(id);
    await report(id, 'removed', 'removed.', call);
  },
};

const CREATE_FIELDS = ['url', 'label', 'wallet', 'from', 'to', 'contract', 'at', 'chainId'];
const REPLAY_FIELDS = ['block', 'chainId'];
const optionOf = (field: string) => (field === 'chainId' ? 'chain' : field);

const givenFields = (call: Invocation, fields: readonly string[]) =>
  Object.fromEntries(
    fields.map((field) => [field, call.text(optionOf(field))]).filter(([, text]) => text !== undefined),
  );

const usageError = ({ field, detail }: FieldFault) => new UsageError(`--${optionOf(field)} ${detail}.`);

const missing = (id: number) => new UsageError(`No webhook with id ${id}. See delegations webhooks list.`);

async function requireWebhook(webhooks: Webhooks, id: number): Promise<WebhookRecord> {
  const record = await webhooks.byId(id);
  if (record === null) throw missing(id);
  return record;
}

/** Also gives the chains that are served: those that are stored or configured. */
async function withStore(
  { databaseUrl, chains }: Config,
  work: (store: Store, served: ReadonlySet<number>) => Promise<void>,
): Promise<void> {
  await using store = await openStore(databaseUrl, { readOnly: true, mustExist: true });
  const states = await store.chains();
  learnNetworks(states);
  const stored = states.map(({ chainId }) => chainId).filter((chainId) => NETWORKS.has(chainId));
  await work(store, new Set([...stored, ...chains.keys()]));
}

async function report(id: number, type: string, text: string, call: Invocation): Promise<void> {
  logChange(`webhook ${type}`, { webhookId: id });
  await writeOut(call.isSet('json') ? `${JSON.stringify({ id, [type]: true })}\n` : `Webhook ${id} ${text}\n`);
}

async function showSecret(record: WebhookRecord, secret: string, call: Invocation): Promise<void> {
  if (call.isSet('json')) return writeWhole(`${JSON.stringify({ ...webhookJson(record), secret })}\n`);
  await writeWhole(`${secret}\n`);
  const isConfirmed = record.paused?.reason !== 'unconfirmed';
  const next = isConfirmed ? '' : ` Then let the receiver confirm: delegations webhooks test ${record.id}`;
  process.stderr.write(
    `Webhook ${record.id}, ${record.url}. Copy its secret now: it will not be shown again.${next}\n`,
  );
}

const NAMES = ['ID', 'URL', 'OWNER', 'AT', 'STATE', 'FAILURES', 'NEXT ATTEMPT'];

const timeText = (ms: number) => new Date(ms).toISOString();
const stateOf = ({ paused }: WebhookRecord) =>
  paused === null ? 'active' : `paused${paused.reason === 'paused' ? '' : `: ${paused.reason}`}`;

const cellsOf = (record: WebhookRecord): string[] => [
  String(record.id),
  record.url,
  record.owner ?? 'operator',
  record.at,
  stateOf(record),
  String(record.failures),
  record.nextAttemptAt === null ? '' : timeText(record.nextAttemptAt),
];

function describe(record: WebhookRecord): string {
  const { chainIds, ...addresses } = record.filter;
  const { pending, paused } = record;
  const rows = [
    ['id', String(record.id)],
    ['url', record.url],
    ['label', record.label],
    ['owner', record.owner ?? 'operator'],
    ['chains', chainIds === 'served' ? 'all served' : chainIds.join(', ')],
    ...Object.entries(addresses),
    ['at', record.at],
    ['created', timeText(record.createdAt)],
    ['state', stateOf(record)],
    ['paused', paused && timeText(paused.at)],
    ['pending', pending && `${pending.id}, ${pending.changes} changes, ${record.failures} failed attempts`],
    ['next attempt', record.nextAttemptAt === null ? null : timeText(record.nextAttemptAt)],
  ];
  return rows.flatMap(([name, value]) => (value == null ? [] : [`${name?.padEnd(14)}${value}`])).join('\n');
}

const ATTEMPT_NAMES = ['TIME', 'DELIVERY', 'TYPE', 'CHANGES', 'OUTCOME', 'MS'];

function attemptTable(attempts: readonly Attempt[]): string {
  if (attempts.length === 0) return 'No deliveries yet.';
  const rows = attempts.map(({ at, deliveryId, type, changes, failure, status, ms }) => [
    ...[timeText(at), deliveryId, type, String(changes)],
    ...[[failure ?? 'delivered', status].filter((one) => one !== null).join(' '), String(ms ?? '')],
  ]);
  return tableOf(ATTEMPT_NAMES, rows);
}
