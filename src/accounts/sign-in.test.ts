// Who is signed in, and who is not: real signatures, every way in which a message can be wrong, on both engines.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { SignatureErc8010 } from 'ox/erc8010';
import { privateKeyToAccount } from 'viem/accounts';
import { createSiweMessage } from 'viem/siwe';
import artifacts from '../../contracts/artifacts.json' with { type: 'json' };
import { ENGINES } from '../../test/support/engines.ts';
import { startEvm } from '../sandbox/evm.ts';
import { type Accounts, openAccounts } from './accounts.ts';
import { createSignIn, type SignIn } from './sign-in.ts';

const ORIGIN = 'https://delegations.example';
const account = privateKeyToAccount(`0x${'11'.repeat(32)}`);
const other = privateKeyToAccount(`0x${'22'.repeat(32)}`);
const NOW = 1_800_000_000;

type Fields = Parameters<typeof createSiweMessage>[0];

/** Of a good message, with a nonce of its own. */
const fieldsOf = (accounts: Accounts, now: number, more: Partial<Fields> = {}): Fields => ({
  address: account.address,
  chainId: 1,
  domain: 'delegations.example',
  uri: `${ORIGIN}/developers`,
  version: '1',
  nonce: accounts.sessions.createNonce(now),
  issuedAt: new Date(now * 1000),
  expirationTime: new Date((now + 300) * 1000),
  ...more,
});

for (const engine of ENGINES) {
  describe(`sign-in on ${engine.name}`, () => {
    let accounts: Accounts;
    let signIn: SignIn;
    let now = NOW;
    beforeAll(async () => {
      accounts = await openAccounts(await engine.fresh());
      const nodes = new Map([[8453, []]]);
      signIn = await createSignIn({ sessions: accounts.sessions, origins: () => [ORIGIN], nodes, now: () => now });
    });
    afterAll(() => accounts.close());

    const fields = (more: Partial<Fields> = {}) => fieldsOf(accounts, now, more);
    const signed = async (more = {}, by = account) => {
      const message = createSiweMessage(fields(more));
      return { message, signature: await by.signMessage({ message }) };
    };
    const refused = async ({ message, signature }: { message: string; signature: string }) =>
      signIn.verify(message, signature, 'a').then(
        () => 'signed in',
        (error: Error) => error.message,
      );

    test('a wallet that signs the message is signed in', async () => {
      const { message, signature } = await signed();
      expect(await signIn.verify(message, signature, 'a')).toBe(account.address.toLowerCase());
      const onOther = await signed({ chainId: 8453 });
      expect(await signIn.verify(onOther.message, onOther.signature, 'a')).toBe(account.address.toLowerCase());
    });

    test('a replayed nonce is refused, and one that was never given', async () => {
      const once = await signed();
      await signIn.verify(once.message, once.signature, 'a');
      expect(await refused(once)).toContain('used before');
      expect(await refused(await signed({ nonce: 'a'.repeat(32) }))).toContain('used before');
    });

    test('a used nonce stays used for as long as it is valid', async () => {
      const { sessions } = accounts;
      const nonce = sessions.createNonce(now);
      const uses = [];
      for (const age of [0, 2, 599, 600]) uses.push(await sessions.useNonce(nonce, now + age));
      expect(uses).toEqual([true, false, false, false]);
      expect(await sessions.useNonce(sessions.createNonce(now), now + 599)).toBe(true);
    });

    test('a wrong signature does not use up the nonce: the right one can follow', async () => {
      const { message, signature } = await signed();
      expect(await refused({ message, signature: await other.signMessage({ message }) })).toContain(
        'not from the wallet',
      );
      expect(await signIn.verify(message, signature, 'a')).toBe(account.address.toLowerCase());
    });

    test('another domain or address of the service is refused', async () => {
      expect(await refused(await signed({ domain: 'evil.example' }))).toContain('for evil.example');
      expect(await refused(await signed({ uri: 'https://evil.example/developers' }))).toContain(
        'not an address of this service',
      );
      expect(await refused(await signed({ uri: 'http://delegations.example/developers' }))).toContain(
        'not an address of this service',
      );
    });

    test('an expired message, one from another time, and one that is not valid yet are refused', async () => {
      expect(await refused(await signed({ expirationTime: new Date((now - 1) * 1000) }))).toContain('expired');
      for (const [seconds, why] of [
        [-601, 'too old'],
        [-600, 'signed in'],
        [600, 'signed in'],
        [601, 'too old'],
      ] as const)
        expect(await refused(await signed({ issuedAt: new Date((now + seconds) * 1000) }))).toContain(why);
      expect(await refused(await signed({ notBefore: new Date((now + 60) * 1000) }))).toContain('not valid yet');
      const { message } = await signed();
      const without = message.replace(/\nExpiration Time: .*/, '');
      expect(await refused({ message: without, signature: await account.signMessage({ message: without }) })).toContain(
        'expired',
      );
    });

    test('times that are none, another scheme, and whatever stands beside the message are refused', async () => {
      const good = createSiweMessage(fields());
      for (const bad of [
        good.replace(/Issued At: .*/, 'Issued At: whenever'),
        good.replace(/Expiration Time: .*/, 'Expiration Time: never'),
        `${good}\nNot Before: soon`,
        `ftp://${good}`,
        `${good}\nThis is a free mint.`,
        good.replace('\nURI:', '\nHello\nURI:'),
      ]) {
        const why = await refused({ message: bad, signature: await account.signMessage({ message: bad }) });
        expect([bad.slice(-40), why === 'signed in']).toEqual([bad.slice(-40), false]);
      }
      expect(await signIn.verify(good, await account.signMessage({ message: good }), 'a')).toBe(
        account.address.toLowerCase(),
      );
    });

    test('a flood of nonces drives out nobody’s, and one that we did not make is none', async () => {
      const mine = accounts.sessions.createNonce(now);
      for (let turn = 0; turn < 20_000; turn++) accounts.sessions.createNonce(now);
      expect(await accounts.sessions.useNonce(`${mine.slice(0, -1)}${mine.endsWith('0') ? '1' : '0'}`, now)).toBe(
        false,
      );
      expect([await accounts.sessions.useNonce(mine, now), await accounts.sessions.useNonce(mine, now)]).toEqual([
        true,
        false,
      ]);
      expect(await accounts.sessions.useNonce(accounts.sessions.createNonce(now + 5), now)).toBe(false);
    });

    test('a wallet has at most ten sessions: the oldest ends', async () => {
      const tokens: string[] = [];
      for (let turn = 0; turn < 12; turn++) tokens.push(await accounts.sessions.open('0xmany', NOW + turn));
      const wallets = await Promise.all(tokens.map((token) => accounts.sessions.walletOf(token, NOW + 12)));
      expect(wallets.map((wallet) => wallet !== null)).toEqual([
        false,
        false,
        ...Array.from({ length: 10 }, () => true),
      ]);
    });

    test('a chain that is not followed is refused', async () => {
      expect(await refused(await signed({ chainId: 137 }))).toContain('chain 137');
    });

    test('a tampered address, another signer, and a tampered message are refused', async () => {
      expect(await refused(await signed({ address: other.address }))).toContain('not from the wallet');
      expect(await refused(await signed({}, other))).toContain('not from the wallet');
      const { message, signature } = await signed();
      expect(await refused({ message: message.replace('Chain ID: 1', 'Chain ID: 8453'), signature })).toContain(
        'not from',
      );
    });

    test('what is no message, or no signature, is refused', async () => {
      const { message, signature } = await signed();
      expect(await refused({ message: 'hello', signature })).toContain('Invalid sign-in message');
      expect(await refused({ message, signature: 'hello' })).toContain('Invalid sign-in message or signature');
      // What is too long is not even read.
      const sent = (letters: number) => refused({ message: 'x'.repeat(letters), signature });
      expect(await sent(4000)).toContain('Invalid sign-in message.');
      expect(await sent(4001)).toContain('Invalid sign-in message or signature.');
      const with0 = (digits: number) => refused({ message, signature: `0x${'0'.repeat(digits)}` });
      expect(await with0(7998)).toContain('not from');
      expect(await with0(7999)).toContain('Invalid sign-in message or signature.');
      expect(await refused({ message, signature: '0x' })).toContain('not from');
    });

    test('a nonce that nobody used in ten minutes is gone', async () => {
      const late = fields();
      now += 601;
      const message = createSiweMessage({
        ...late,
        issuedAt: new Date(now * 1000),
        expirationTime: new Date((now + 60) * 1000),
      });
      expect(await refused({ message, signature: await account.signMessage({ message }) })).toContain(
        'nonce was used before, or has expired',
      );
    });

    test('a session lasts a day, or until it is closed, and its token is not kept', async () => {
      const { sessions } = accounts;
      const token = await sessions.open('0xabc', NOW);
      expect(token).toMatch(/^[0-9a-f]{64}$/);
      expect([await sessions.walletOf(token, NOW), await sessions.walletOf('f'.repeat(64), NOW)]).toEqual([
        '0xabc',
        null,
      ]);
      const isOpen = async (at: number, of = token) => (await sessions.walletOf(of, at)) !== null;
      expect([await isOpen(NOW + 86_399), await isOpen(NOW + 86_400)]).toEqual([true, false]);
      await sessions.close(token);
      expect(await isOpen(NOW)).toBe(false);
      // One that has ended is not stored for ever.
      const ended = await sessions.open('0xabc', NOW);
      await sessions.open('0xdef', NOW + 86_400);
      expect(await isOpen(NOW, ended)).toBe(false);
    });
  });
}

test('what a node says of a wallet makes the service fetch nothing', async () => {
  const visits: string[] = [];
  const inside = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      visits.push(request.url);
      return new Response('{}');
    },
  });
  // OffchainLookup(address sender, string[] urls, bytes, bytes4, bytes), as a contract may revert with.
  const { encodeErrorResult, parseAbi } = await import('viem');
  const abi = parseAbi([
    'error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData)',
  ]);
  const data = encodeErrorResult({
    abi,
    errorName: 'OffchainLookup',
    args: [account.address, [`http://127.0.0.1:${inside.port}/{sender}/{data}`], '0x12', '0x12345678', '0x'],
  });
  const node = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { id, method } = (await request.json()) as { id: number; method: string };
      if (method === 'eth_chainId') return Response.json({ jsonrpc: '2.0', id, result: '0x1' });
      if (method === 'eth_getCode')
        return Response.json({ jsonrpc: '2.0', id, result: `0xef0100${other.address.slice(2).toLowerCase()}` });
      return Response.json({ jsonrpc: '2.0', id, error: { code: 3, message: 'execution reverted', data } });
    },
  });
  const accounts = await openAccounts(await (ENGINES[0] as (typeof ENGINES)[number]).fresh());
  const nodes = new Map([[1, [`http://127.0.0.1:${node.port}`]]]);
  const signIn = await createSignIn({ sessions: accounts.sessions, origins: () => [ORIGIN], nodes, now: () => NOW });
  const message = createSiweMessage(fieldsOf(accounts, NOW));
  // A signature that names what the wallet's code has become (EIP-7702), in the form in which it is asked directly.
  const authorization = { address: other.address, chainId: 1, nonce: 0n, r: 1n, s: 1n, yParity: 0 };
  const signature = SignatureErc8010.wrap({ authorization, data: '0x', signature: '0x1234', to: account.address });
  await expect(signIn.verify(message, signature, 'a')).rejects.toThrow('not from the wallet');
  expect(visits).toEqual([]);
  await accounts.close();
  await Promise.all([inside.stop(true), node.stop(true)]);
});

/** How a scripted node answers about one wallet. */
interface WalletNode {
  readonly chainId?: number;
  readonly code?: string;
  /** The return data of the call that verifies the signature, or a promise of it. */
  readonly call?: () => string | Promise<string>;
  /** Replaces the whole response. */
  readonly respond?: () => Response;
}

const [VALID, INVALID, CODE] = ['0x01', '0x00', '0x6001'];
const started: { stop(force: boolean): unknown }[] = [];
afterAll(() => Promise.all(started.map((one) => one.stop(true))));

function walletNode({ chainId = 1, code = CODE, call = () => VALID, respond }: WalletNode = {}): string {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { id, method } = (await request.json()) as { id: number; method: string };
      if (respond !== undefined) return respond();
      const result =
        method === 'eth_chainId' ? `0x${chainId.toString(16)}` : method === 'eth_getCode' ? code : await call();
      return Response.json({ jsonrpc: '2.0', id, result });
    },
  });
  started.push(server);
  return `http://127.0.0.1:${server.port}`;
}

describe('a contract wallet', () => {
  const WALLET = '0x5AfE5afE5afE5afE5afE5afE5aFe5aFe5Afe5Afe';
  const JUNK = `0x${'12'.repeat(65)}` as const;
  let accounts: Accounts;
  beforeAll(async () => {
    accounts = await openAccounts(await (ENGINES[0] as (typeof ENGINES)[number]).fresh());
  });
  afterAll(() => accounts.close());

  let disputes: number[] = [];
  const signInWith = (nodes: Record<number, readonly string[]>) =>
    createSignIn({
      onDispute: (chainId) => disputes.push(chainId),
      sessions: accounts.sessions,
      origins: () => [ORIGIN],
      nodes: new Map(Object.entries(nodes).map(([chainId, urls]) => [Number(chainId), urls])),
      now: () => NOW,
    });
  /** The account that is opened, or why none is. */
  const attempt = (signIn: SignIn, more: Partial<Fields> = {}, signature: string = JUNK, caller = 'a') =>
    signIn
      .verify(createSiweMessage(fieldsOf(accounts, NOW, { address: WALLET, ...more })), signature, caller)
      .catch((error: Error) => error.message);

  test('has an account of its own on every chain, apart from that of a key with the same address', async () => {
    const signIn = await signInWith({ 1: [walletNode()], 10: [walletNode({ chainId: 10 })] });
    const lower = WALLET.toLowerCase();
    expect(await attempt(signIn)).toBe(`eip155:1:${lower}`);
    expect(await attempt(signIn, { chainId: 10 })).toBe(`eip155:10:${lower}`);
    // A node that claims that a wallet with a key of its own is a contract does not open that wallet's account.
    expect(await attempt(signIn, { chainId: 10, address: account.address })).toBe(
      `eip155:10:${account.address.toLowerCase()}`,
    );
  });

  test('is refused without code at its address, whatever the nodes say of the signature', async () => {
    const signIn = await signInWith({ 1: [walletNode({ code: '0x' })] });
    for (const signature of [JUNK, '0x', '0x123', `0x${'ff'.repeat(3000)}`])
      expect(await attempt(signIn, {}, signature)).toContain('not from the wallet');
    expect(await attempt(signIn, { address: account.address })).toContain('not from the wallet');
  });

  test('is signed in only if every node that answers agrees', async () => {
    const [yes, no] = [walletNode(), walletNode({ call: () => INVALID })];
    const gone = 'http://127.0.0.1:1';
    disputes = [];
    const outcomes = async (...urls: string[]) => attempt(await signInWith({ 1: urls }));
    const signedIn = `eip155:1:${WALLET.toLowerCase()}`;
    expect([await outcomes(yes, yes), await outcomes(yes, gone)]).toEqual([signedIn, signedIn]);
    expect([await outcomes(yes, no), await outcomes(no, yes)]).toEqual([
      expect.stringContaining('disagree'),
      expect.stringContaining('disagree'),
    ]);
    expect(disputes).toEqual([1, 1]);
    expect(await outcomes(no, gone)).toContain('not from the wallet');
    expect(await outcomes(gone)).toContain('No provider of chain 1 answered');
  });

  test('is not believed of a node of another chain, of a redirect, or of an endless response', async () => {
    const yes = walletNode();
    const endless = () =>
      new Response(
        new ReadableStream({
          pull: (controller) => controller.enqueue(new Uint8Array(65_536).fill(32)),
        }),
      );
    for (const bad of [
      walletNode({ chainId: 10 }),
      walletNode({ respond: () => Response.redirect(yes, 307) }),
      walletNode({ respond: endless }),
      walletNode({ respond: () => new Response('{}') }),
      walletNode({ call: () => '0x' }),
    ])
      expect(await attempt(await signInWith({ 1: [bad] }))).toContain('No provider of chain 1 answered');
  });

  test('cannot have the zero address', async () => {
    const signIn = await signInWith({ 1: [walletNode()] });
    const address = `0x${'0'.repeat(40)}` as const;
    for (const signature of [JUNK, '0x', `0x${'00'.repeat(65)}`, `0x${'00'.repeat(64)}1b`])
      expect(await attempt(signIn, { address }, signature)).toContain('zero address');
  });

  test('that is slow to verify delays neither other callers, nor other chains, nor wallets with a key', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let isSlow = true;
    const call = async () => {
      if (isSlow) await released;
      return VALID;
    };
    const signIn = await signInWith({ 1: [walletNode({ call })], 10: [walletNode({ chainId: 10 })] });
    const slow = Array.from({ length: 20 }, () => attempt(signIn));
    // Those above the limit of one caller are refused at once.
    const first = await Promise.race(slow);
    expect(first).toContain('Too many sign-ins');
    isSlow = false;
    const signedIn = `eip155:1:${WALLET.toLowerCase()}`;
    expect(await attempt(signIn, {}, JUNK, 'b')).toBe(signedIn);
    expect(await attempt(signIn, { chainId: 10 }, JUNK, 'b')).toBe(`eip155:10:${WALLET.toLowerCase()}`);
    const message = createSiweMessage(fieldsOf(accounts, NOW));
    expect(await signIn.verify(message, await account.signMessage({ message }), 'a')).toBe(
      account.address.toLowerCase(),
    );
    release();
    const outcomes = await Promise.all(slow);
    expect(outcomes.filter((one) => one === signedIn)).toHaveLength(2);
    expect(await attempt(signIn)).toBe(signedIn);
  });

  test('is verified for 16 callers of a chain at once, so that its providers have time for the index', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { promise: settled, resolve: settle } = Promise.withResolvers<void>();
    let [asked, refused] = [0, 0];
    const note = () => (asked + refused === 18 ? settle() : undefined);
    const call = async () => {
      asked++;
      note();
      await released;
      return VALID;
    };
    const signIn = await signInWith({ 1: [walletNode({ call })] });
    const all = Array.from({ length: 18 }, async (_, caller) => {
      const outcome = await attempt(signIn, {}, JUNK, String(caller));
      if (!outcome.includes('Too many sign-ins')) return;
      refused++;
      note();
    });
    await settled;
    expect([asked, refused]).toEqual([16, 2]);
    release();
    await Promise.all(all);
  });
});

describe('a real contract wallet', () => {
  let evm: Awaited<ReturnType<typeof startEvm>>;
  let accounts: Accounts;
  let signIn: SignIn;
  beforeAll(async () => {
    evm = await startEvm();
    accounts = await openAccounts(await (ENGINES[0] as (typeof ENGINES)[number]).fresh());
    const nodes = new Map([[1, [evm.url]]]);
    signIn = await createSignIn({ sessions: accounts.sessions, origins: () => [ORIGIN], nodes, now: () => NOW });
  });
  afterAll(async () => {
    await accounts.close();
    await evm.stop();
  });

  test('is asked whether the signature is its own (EIP-1271)', async () => {
    const wallet = '0x5AfE5afE5afE5afE5afE5afE5aFe5aFe5Afe5Afe';
    await evm.rpc.call('hardhat_setCode', [wallet, artifacts.SignerWallet.code]);
    await evm.rpc.call('hardhat_setStorageAt', [
      wallet,
      '0x0',
      `0x${account.address.slice(2).toLowerCase().padStart(64, '0')}`,
    ]);
    const message = () => createSiweMessage(fieldsOf(accounts, NOW, { address: wallet }));
    const good = message();
    expect(await signIn.verify(good, await account.signMessage({ message: good }), 'a')).toBe(
      `eip155:1:${wallet.toLowerCase()}`,
    );
    const bad = message();
    await expect(signIn.verify(bad, await other.signMessage({ message: bad }), 'a')).rejects.toThrow(
      'not from the wallet',
    );
  });

  test('may be one that is not deployed yet (EIP-6492)', async () => {
    const { concat, getContractAddress, serializeErc6492Signature, numberToHex, size } = await import('viem');
    // Deploys the code after the salt, as the common deployment proxy does.
    const factory = '0x4e59b44847b379578588920cA78FbF26c0B4956C';
    await evm.rpc.call('hardhat_setCode', [
      factory,
      '0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3',
    ]);
    const code = artifacts.SignerWallet.code as `0x${string}`;
    // Stores the owner in slot 0 and returns the wallet's code.
    const deployed = (owner: `0x${string}`) =>
      concat(['0x73', owner, '0x60005561', numberToHex(size(code), { size: 2 }), '0x80602460003960', '0x00f3', code]);
    const salt = `0x${'0'.repeat(64)}` as const;
    const wallet = getContractAddress({ opcode: 'CREATE2', from: factory, salt, bytecode: deployed(account.address) });
    const attempt = async (signer: typeof account, owner = account.address) => {
      const message = createSiweMessage(fieldsOf(accounts, NOW, { address: wallet }));
      const signature = serializeErc6492Signature({
        address: factory,
        data: concat([salt, deployed(owner)]),
        signature: await signer.signMessage({ message }),
      });
      return signIn.verify(message, signature, 'a').catch((error: Error) => error.message);
    };
    expect(await attempt(account)).toBe(`eip155:1:${wallet.toLowerCase()}`);
    expect(await attempt(other)).toContain('not from the wallet');
    // A factory call that deploys another wallet does not open this one's account.
    expect(await attempt(other, other.address)).toContain('not from the wallet');
  });
});
