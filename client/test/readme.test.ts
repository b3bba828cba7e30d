// The code of client/README.md, run with the packed client against the sandbox. A comment behind `console.log` is what it prints.

import { beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checksummed } from '../../src/registry/checksum.ts';
import { COLD } from '../../src/sandbox/wallets.ts';
import { linkPackages, packClient, run } from '../../test/support/packed-client.ts';
import { useSandboxInBrowser } from '../../test/support/sandbox-browser.ts';
import { runProgram } from '../../test/support/serve-process.ts';

const ROOT = join(import.meta.dir, '../..');
const README = readFileSync(join(import.meta.dir, '../README.md'), 'utf8');
const blocksOf = (language: string) =>
  [...README.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, code = '']) => code);

/** The first block makes the client that the others use. */
const BLOCKS = blocksOf('ts');
const [PICKER = '', APP = ''] = blocksOf('tsx');
const TYPES = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: 'ES2022',
    lib: ['ES2022', 'DOM', 'DOM.Iterable'],
    module: 'Preserve',
    moduleDetection: 'force',
    jsx: 'react-jsx',
    allowImportingTsExtensions: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
    types: [],
  },
  include: ['*.ts', '*.tsx'],
};

// biome-ignore lint/correctness/useHookAtTopLevel: not a hook of React
const used = useSandboxInBrowser();
let project: string;
beforeAll(() => {
  ({ project } = packClient());
  linkPackages(project, 'viem', 'react', 'react-dom', 'scheduler', '@types/react', '@types/react-dom');
  linkPackages(project, '@tanstack/react-query', '@tanstack/query-core');
  const onSandbox = (code: string) => code.replaceAll('http://localhost:8080', used.url);
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(TYPES));
  writeFileSync(join(project, 'page.ts'), onSandbox(BLOCKS.join('console.log("next block");\n')));
  writeFileSync(join(project, 'vault-picker.tsx'), PICKER);
  writeFileSync(join(project, 'app.tsx'), onSandbox(APP));
});

/** What the comments of a block say: lines, or values that are separated by commas. */
const printedBy = (block: string) =>
  [...block.matchAll(/console\.log\(.*\); \/\/ (.+)$/gm)].flatMap(([, text = '']) => text.split(', '));

describe('the README of the client', () => {
  test('compiles', () => {
    expect(run(project, join(ROOT, 'node_modules/.bin/tsgo'), '--project', '.')).toBe('');
  });

  test(`has ${BLOCKS.length} blocks that print what they say`, async () => {
    const { code, stdout, stderr } = await runProgram([process.execPath, 'page.ts'], { folder: project });
    expect([code, stderr]).toEqual([0, '']);
    const printed = stdout.split('next block\n').map((text) => text.trim().split('\n'));
    expect(printed).toEqual(BLOCKS.map(printedBy));
    expect(BLOCKS.length).toBe(7);
  });

  test('has the vault picker of the examples', () => {
    expect(PICKER).toBe(readFileSync(join(import.meta.dir, '../examples/vault-picker.tsx'), 'utf8'));
  });

  test('shows the vault in a browser', async () => {
    const { outputs } = await Bun.build({
      entrypoints: [join(project, 'app.tsx')],
      target: 'browser',
      define: { 'process.env.NODE_ENV': '"production"' },
    });
    const page = await used.browser.newPage();
    await page.setContent('<div id="root"></div>');
    await page.addScriptTag({ content: await (outputs[0] as Blob).text(), type: 'module' });
    const vaults = page.getByRole('group', { name: 'Act for' }).locator('label');
    await vaults.first().click();
    expect(await vaults.allTextContents()).toEqual([checksummed(COLD.Ada)]);
    expect(await page.getByRole('radio').isChecked()).toBe(true);
    await page.locator('button:enabled', { hasText: 'Mint' }).waitFor();
  });
});
