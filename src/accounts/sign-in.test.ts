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
      signIn.verify(message, signature).then(
        () => 'signed in',
        (error: Error) => error.message,
      );

    test('a wallet that signs the message is signed in', async () => {
      const { message, signature } = await signed();
      expect(await signIn.verify(message, signature)).toBe(account.address.toLowerCase());
      const onOther = await signed({ chainId: 8453 });
      expect(await signIn.verify(onOther.message, onOther.signature)).toBe(account.address.toLowerCase());
    });

    test('a replayed nonce is refused, and one that was never given', async () => {
      const once = await signed();
      await signIn.verify(once.message, once.signature);
      expect(await refused(once)).toContain('used before');
      expect(await refused(await signed({ nonce: 'a'.repeat(32) }))).toContain('used before');
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
      expect(await refused(await signed({ issuedAt: new Date((now - 3600) * 1000) }))).toContain('too old');
      expect(await refused(await signed({ issuedAt: new Date((now + 3600) * 1000) }))).toContain('too old');
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
      expect(await signIn.verify(good, await account.signMessage({ message: good }))).toBe(
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
      expect(await refused({ message: message.repeat(20), signature })).toContain(
        'Invalid sign-in message or signature',
      );
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
      expect(await sessions.walletOf(token, NOW + 86_400)).toBeNull();
      await sessions.close(token);
      expect(await sessions.walletOf(token, NOW)).toBeNull();
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
  await expect(signIn.verify(message, signature)).rejects.toThrow('not from the wallet');
  expect(visits).toEqual([]);
  await accounts.close();
  await Promise.all([inside.stop(true), node.stop(true)]);
});

test('a wallet that is a contract is asked whether the signature is its own (EIP-1271)', async () => {
  const evm = await startEvm();
  const accounts = await openAccounts(await (ENGINES[0] as (typeof ENGINES)[number]).fresh());
  try {
    const wallet = '0x5AfE5afE5afE5afE5afE5afE5aFe5aFe5Afe5Afe';
    await evm.rpc.call('hardhat_setCode', [wallet, artifacts.SignerWallet.code]);
    await evm.rpc.call('hardhat_setStorageAt', [
      wallet,
      '0x0',
      `0x${account.address.slice(2).toLowerCase().padStart(64, '0')}`,
    ]);
    const now = Math.floor(Date.now() / 1000);
    const nodes = new Map([[1, [evm.url]]]);
    const signIn = await createSignIn({ sessions: accounts.sessions, origins: () => [ORIGIN], nodes, now: () => now });
    const message = () => createSiweMessage(fieldsOf(accounts, now, { address: wallet }));
    const good = message();
    expect(await signIn.verify(good, await account.signMessage({ message: good }))).toBe(wallet.toLowerCase());
    const bad = message();
    await expect(signIn.verify(bad, await other.signMessage({ message: bad }))).rejects.toThrow('not from the wallet');
  } finally {
    await accounts.close();
    await evm.stop();
  }
}, 60_000);
