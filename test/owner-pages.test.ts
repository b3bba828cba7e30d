// The way of an owner through the pages, in a real browser on the sandbox's EVM: see what is dangerous, end all of it, undo that, and
// grant again, with a wallet that really sends.

import { describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { checksummed } from '../src/registry/checksum.ts';
import { type Address, type Delegation, delegationId, MAX_UINT256 } from '../src/registry/delegation.ts';
import { dayText } from '../src/registry/expiry-text.ts';
import { delegationOf, grantIdOf } from '../src/web/grant-id.ts';
import { expectAccessible } from './support/axe.ts';
import type { WalletVisit } from './support/browser-wallet.ts';
import { fund } from './support/evm-wallets.ts';
import { CONTRACT, everyKind, grantOf, HOT, OTHER, ownerNamed, useRevokeRig, VOTE } from './support/revoke-rig.ts';

const rig = useRevokeRig();

const done = (page: Page) => page.locator('#progress', { hasText: /^Done\./ }).waitFor();
const textOf = (page: Page) => page.locator('main').innerText();

/** Every grant of a wallet, with its amount, as the API lists it. */
async function grantsOf(wallet: Address): Promise<string[]> {
  return (await rig.recordsOf(wallet)).map(delegationOf).map(nameOf).sort();
}
const nameOf = (grant: Delegation) => `${grantIdOf(grant)}~${grant.amount ?? ''}`;

/** What the page says that its transactions change, with amounts. */
const said = (page: Page) =>
  page.evaluate(
    `[...document.querySelectorAll('[data-grant]')].map(({ dataset }) => dataset.grant + '~' + dataset.amount).sort()`,
  ) as Promise<string[]>;

/** Sends what the page has prepared, and returns what was added to the lists of the API. */
async function grantBy({ page, sent }: WalletVisit, owner: Address) {
  const before = new Set(await grantsOf(owner));
  const words = await said(page);
  await page.getByLabel(/^I compared every wallet above/).check();
  await page.getByRole('button', { name: 'Grant with Test Wallet' }).click();
  await done(page);
  const added = (await grantsOf(owner)).filter((one) => !before.has(one));
  return { said: words, added, sent: sent.splice(0).length };
}

test('from the address to nothing left: three clicks, and one signature for each registry', async () => {
  const owner = ownerNamed('everything');
  await rig.grant([...everyKind(owner), ...everyKind(owner, OTHER).slice(0, 5)]);
  const { page, sent, complaints } = await rig.open(`${rig.url}/revoke`, owner);
  let clicks = 0;
  const click = async (role: 'button' | 'link', name: string) => {
    clicks++;
    await page.getByRole(role, { name, exact: true }).click();
  };
  await page.getByLabel('Your wallet').fill(owner);
  await click('button', 'Show its grants');
  await page.getByText('Most dangerous first:').waitFor();
  await expectAccessible(page, 'owner-choose');
  await click('link', 'Revoke everything on Ethereum');
  await page.getByText('Transaction 2 of 2').waitFor();
  expect(await textOf(page)).toContain(`${checksummed(HOT)} will no longer be able to act for`);
  expect(await said(page)).toEqual(await grantsOf(owner));
  await expectAccessible(page, 'owner-everything');
  await click('button', 'Revoke with Test Wallet');
  await done(page);
  expect([clicks, sent.length, await grantsOf(owner), complaints]).toEqual([3, 2, [], []]);
  const text = await textOf(page);
  expect(text).toContain('What is left\n\nNo grant of your wallet is left on Ethereum.');
  expect(text).not.toContain('What this does not end');
  await expectAccessible(page, 'owner-everything-done');
  await page.close();
});

test('all of one wallet from its card, what is left in numbers, and an undo that restores every detail', async () => {
  const owner = ownerNamed('undo');
  const hot = [
    ...everyKind(owner).filter(({ kind }) => kind !== 'ERC20'),
    grantOf(owner, 2, 'ERC20', { amount: MAX_UINT256, rights: VOTE }),
  ];
  await rig.grant([...hot, grantOf(owner, 2, 'ALL', { to: OTHER }), grantOf(owner, 1, 'CONTRACT', { to: OTHER })]);
  const before = await grantsOf(owner);
  const visit = await rig.open(`${rig.url}/?wallet=${owner}`, owner);
  const { page, sent, complaints } = visit;
  const card = page.locator('.hots .card').filter({ hasText: 'in both registries' });
  expect(await card.count()).toBe(1);
  expect(await card.innerText()).toMatch(/can do everything, in both registries, for /);
  await expectAccessible(page, 'owner-cards');
  await card.getByRole('link', { name: /^Revoke all of it/ }).click();
  await page.getByText('Transaction 2 of 2').waitFor();
  expect(await said(page)).toEqual(hot.map(nameOf).sort());
  await page.getByRole('button', { name: 'Revoke with Test Wallet' }).click();
  await done(page);
  expect(await textOf(page)).toContain('2 grants of your wallet are left on Ethereum, not all within limits.');
  expect(await page.locator('#left').getByRole('link', { name: 'Revoke everything on Ethereum' }).count()).toBe(1);
  expect([sent.splice(0).length, (await grantsOf(owner)).length]).toEqual([2, 2]);
  await expectAccessible(page, 'owner-left');

  await page.getByRole('link', { name: 'Undo' }).click();
  await page.getByText('Transaction 1 of 4').waitFor();
  expect(await textOf(page)).toContain(`${checksummed(HOT)} will be able to act for`);
  await expectAccessible(page, 'owner-undo');
  // The second registry by one multicall, the first by one transaction for each.
  const result = await grantBy(visit, owner);
  expect(result).toEqual({ said: hot.map(nameOf).sort(), added: hot.map(nameOf).sort(), sent: 4 });
  expect([await grantsOf(owner), complaints]).toEqual([before, []]);
  await page.reload();
  await page.getByText('Nothing to grant.').waitFor();
  await page.close();
});

describe('a grant from the form', () => {
  const owner = ownerNamed('granting');

  test('of each kind adds to the lists exactly what the page said', async () => {
    await fund(rig.rpc, [owner]);
    const visit = await rig.open(`${rig.url}/grant?wallet=${owner}`, owner);
    const { page, complaints } = visit;
    const contract = CONTRACT;
    const forms: readonly [Record<string, string>, Delegation][] = [
      [{ kind: 'erc20', contract, amount: '250' }, grantOf(owner, 2, 'ERC20')],
      [{ kind: 'erc20', contract, amount: 'any' }, grantOf(owner, 2, 'ERC20', { amount: MAX_UINT256 })],
      [
        { kind: 'erc721', contract, tokenId: '7', right: 'vote' },
        grantOf(owner, 2, 'ERC721', { tokenId: 7n, rights: VOTE }),
      ],
      [
        { kind: 'erc1155', contract, tokenId: String(MAX_UINT256), amount: '3' },
        grantOf(owner, 2, 'ERC1155', { amount: 3n }),
      ],
      [{ kind: 'contract', contract }, grantOf(owner, 2, 'CONTRACT')],
      [{ kind: 'all' }, grantOf(owner, 2, 'ALL')],
    ];
    for (const [{ kind, ...values }, grant] of forms) {
      await page.goto(`${rig.url}/grant?wallet=${owner}`);
      await page.getByLabel('Hot wallet').fill(HOT);
      await page.getByLabel('What it may act for').selectOption(kind as string);
      for (const [name, value] of Object.entries(values)) await page.locator(`#${name}`).fill(value);
      await page.getByRole('button', { name: 'Review' }).click();
      await page.getByText('What this allows on Ethereum').waitFor();
      if (values['amount'] === 'any')
        expect(await textOf(page)).toMatch(/any amount of the ERC-20 token .* v2 instead of up to 250/);
      if (kind === 'all') await expectAccessible(page, 'owner-grant-all');
      const result = await grantBy(visit, owner);
      expect([kind, result]).toEqual([kind, { said: [nameOf(grant)], added: [nameOf(grant)], sent: 1 }]);
    }
    expect(await textOf(page)).toContain('This has no limit.');
    expect([(await grantsOf(owner)).length, complaints]).toEqual([forms.length - 1, []]);
    await page.close();
  });

  test('until a day: the page says what that is worth, and the wallet page has the date', async () => {
    const from = ownerNamed('expiring');
    await fund(rig.rpc, [from]);
    const visit = await rig.open(`${rig.url}/?wallet=${from}`, from);
    const { page } = visit;
    await page.getByRole('link', { name: /^Grant access from this wallet/ }).click();
    await page.getByLabel('Hot wallet').fill(HOT);
    await page.getByLabel('Only with the right').fill('vote');
    await page.getByLabel('Until the end of this day').fill('2091-01-31');
    await page.getByRole('button', { name: 'Review' }).click();
    await page.getByText('What this allows on Ethereum').waitFor();
    const day = dayText(Date.UTC(2091, 0, 31) / 1000);
    const text = await textOf(page);
    expect(text).toContain(
      `The expiry is ${day}. Only apps that read expiries count the grant, until the end of this day, UTC`,
    );
    expect(text).toContain('counts only in apps that ask for this right');
    await expectAccessible(page, 'owner-grant-until');
    const { said, added } = await grantBy(visit, from);
    expect([said.length, added]).toEqual([1, said]);
    await expectAccessible(page, 'owner-granted');
    await page.getByRole('link', { name: 'See who may act for your wallet' }).click();
    expect(await page.getByRole('row').filter({ hasText: 'vote' }).innerText()).toContain(`until ${day}`);
    expect(await page.locator('.hots .card').innerText()).toContain(`until ${day}`);
    await page.close();
  });

  test('by keyboard alone: what is wrong is told at its field, which has the focus', async () => {
    const from = ownerNamed('keys');
    await fund(rig.rpc, [from]);
    const visit = await rig.open(`${rig.url}/grant?wallet=${from}`, from);
    const { page, sent, complaints } = visit;
    const reach = async (id: string) => {
      for (
        let left = 40;
        (await page.evaluate('document.activeElement.id || document.activeElement.name')) !== id;
        left--
      ) {
        if (left === 0) throw new Error(`${id} is not reached`);
        await page.keyboard.press('Tab');
      }
    };
    await expectAccessible(page, 'owner-grant-form');
    await reach('to');
    await page.keyboard.type('0x12');
    await reach('kind');
    await page.keyboard.press('ArrowDown');
    await reach('contract');
    await page.keyboard.type(CONTRACT);
    // Of a contract, there is no field for a token or an amount.
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.id')).toBe('right');
    await reach('review');
    await page.keyboard.press('Enter');
    await page.getByText('Nothing was prepared: 1 field must be corrected.').waitFor();
    expect(await page.evaluate('document.activeElement.id')).toBe('to');
    expect(await page.locator('#to-fault').innerText()).toContain('This has 2: 38 too few.');
    expect(await page.locator('#to').getAttribute('aria-describedby')).toBe('to-fault to-hint');
    await expectAccessible(page, 'owner-grant-wrong');
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type(HOT);
    await page.keyboard.press('Enter');
    await page.getByText('What this allows on Ethereum').waitFor();
    await page.getByRole('link', { name: 'Change it' }).press('Enter');
    expect(await page.locator('#contract').inputValue()).toBe(CONTRACT);
    await page.goBack();
    for (let left = 40; !(await page.evaluate(`document.activeElement.matches('#wallets button')`)); left--) {
      if (left === 0) throw new Error('the wallet is not reached');
      await page.keyboard.press('Tab');
    }
    // Not without the tick, to which the focus goes.
    await page.keyboard.press('Enter');
    expect([await page.evaluate('document.activeElement.id'), sent]).toEqual(['confirm', []]);
    await page.keyboard.press('Space');
    await page.keyboard.press('Tab');
    const before = await grantsOf(from);
    await page.keyboard.press('Enter');
    await done(page);
    const grant = grantOf(from, 2, 'CONTRACT');
    expect([before, (await rig.recordsOf(from)).map(delegationOf).map(delegationId)]).toEqual([
      [],
      [delegationId(grant)],
    ]);
    expect(complaints).toEqual([]);
    await page.close();
  });

  test('without a wallet or a script it shows target and calldata, and warns of what gives the same already', async () => {
    const from = ownerNamed('already');
    await rig.grant([grantOf(from, 1, 'ALL')]);
    const query = `wallet=${from}&chain=1&to=${HOT}&kind=contract&contract=${CONTRACT}&review=yes`;
    const page = await rig.browser.newPage({ javaScriptEnabled: false });
    await page.goto(`${rig.url}/grant?${query}`);
    expect(await textOf(page)).toMatch(
      /You may not need this\. \S+ can do it already, because it may act for\s+your whole wallet v1/,
    );
    expect(await textOf(page)).toContain('Sending needs JavaScript.');
    await page.getByText('Show the transaction', { exact: true }).click();
    expect(await page.locator('.call').innerText()).toContain('delegateContract');
    await page.close();
  });
});
