import { expect, test } from 'bun:test';
import { Webhook } from 'standardwebhooks';
import { createSecret, signatureOf } from './sign.ts';

const BODY = '{"type":"delegations.changes","text":"größer"}';

async function headersOf(secrets: readonly string[], time = new Date()) {
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(time.getTime() / 1000)),
    'webhook-signature': await signatureOf(secrets, 'msg_1', time, BODY),
  };
}

test('a secret is whsec_ and 32 random bytes', () => {
  const [one, other] = [createSecret(), createSecret()];
  expect(one).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(Buffer.from(one.slice(6), 'base64').length).toBe(32);
  expect(other).not.toBe(one);
});

test("the signature of Standard Webhooks' own example", async () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const time = new Date(1614265330 * 1000);
  expect(await signatureOf([secret], 'msg_p5jXN8AQM9LWM0D4loKWxJek', time, '{"test": 2432232314}')).toBe(
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  );
});

test('the reference library accepts it', async () => {
  const secret = createSecret();
  expect(new Webhook(secret).verify(BODY, await headersOf([secret]))).toEqual(JSON.parse(BODY));
});

test('during a rotation, both secrets verify', async () => {
  const secrets = [createSecret(), createSecret()];
  const headers = await headersOf(secrets);
  expect(headers['webhook-signature'].split(' ')).toHaveLength(2);
  for (const secret of secrets) expect(new Webhook(secret).verify(BODY, headers)).toEqual(JSON.parse(BODY));
});

test('the reference library refuses another body, id, timestamp or secret, and an old delivery', async () => {
  const secret = createSecret();
  const receiver = new Webhook(secret);
  const headers = await headersOf([secret]);
  const later = String(Number(headers['webhook-timestamp']) + 1);
  expect(() => receiver.verify(`${BODY} `, headers)).toThrow('No matching signature');
  expect(() => receiver.verify(BODY, { ...headers, 'webhook-id': 'msg_2' })).toThrow('No matching signature');
  expect(() => receiver.verify(BODY, { ...headers, 'webhook-timestamp': later })).toThrow('No matching signature');
  expect(() => new Webhook(createSecret()).verify(BODY, headers)).toThrow('No matching signature');
  const old = await headersOf([secret], new Date(Date.now() - 301_000));
  expect(() => receiver.verify(BODY, old)).toThrow('too old');
});
