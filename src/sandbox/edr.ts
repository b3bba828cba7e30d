// The EVM of the local chain: EDR, the one that Hardhat runs on, through its native package. The types describe the part of
// it that is used here.

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { TEST_ACCOUNTS } from './test-accounts.ts';

interface Account {
  readonly address: Uint8Array;
  readonly balance?: bigint;
}

interface Provider {
  /** Takes `{ method, params }` and returns `{ result }` or `{ error }`, as text if it is not too long for one. */
  handleRequest(request: string): Promise<{ readonly data: unknown }>;
}

interface Context {
  registerProviderFactory(chainType: string, factory: unknown): Promise<void>;
  /** The rest: configuration, logger, subscriptions and decoder. */
  createProvider(chainType: string, ...rest: unknown[]): Promise<Provider>;
}

interface Native {
  readonly EdrContext: new () => Context;
  readonly ContractDecoder: new () => unknown;
  readonly L1_CHAIN_TYPE: string;
  l1ProviderFactory(): unknown;
  l1HardforkLatest(): number;
  l1HardforkToString(hardfork: number): string;
  /** The system contracts of a hard fork. */
  l1GenesisState(hardfork: number): Account[];
}

export interface EdrError {
  readonly code: number;
  readonly message: string;
  /** What a reverted call returned. */
  readonly data?: string;
}

export type EdrResponse = { readonly result: unknown } | { readonly error: EdrError };

export type Edr = (method: string, params: unknown) => Promise<EdrResponse>;

const BALANCE = 10_000n * 10n ** 18n;
const BLOCK_GAS_LIMIT = 60_000_000n;
/** The most that a transaction may have (EIP-7825). A call or transaction that names no gas gets it. */
const TRANSACTION_GAS = 2n ** 24n;
const COINBASE = '0xc014ba5ec014ba5ec014ba5ec014ba5ec014ba5e';

/** The error code of geth and Hardhat for a reverted call. */
const REVERTED = 3;

/** The name of the native package for this platform. */
export const nativePackage = () =>
  `@nomicfoundation/edr-${process.platform}-${process.arch}${process.platform === 'linux' ? '-gnu' : ''}`;

/** Where it is installed: with the program, or where the command was run. Null if it is not. */
export function findNativePackage(): string | null {
  for (const from of [import.meta.url, join(process.cwd(), 'package.json')])
    try {
      return createRequire(from).resolve(nativePackage());
    } catch {
      // The next place.
    }
  return null;
}

/** Creates a chain whose first block has this time. Every transaction is mined at once. */
export async function createEdr(since: Date, chainId: bigint): Promise<Edr> {
  const edr = createRequire(import.meta.url)(findNativePackage() ?? nativePackage()) as Native;
  const hardfork = edr.l1HardforkLatest();
  const context = new edr.EdrContext();
  await context.registerProviderFactory(edr.L1_CHAIN_TYPE, edr.l1ProviderFactory());
  const accounts = TEST_ACCOUNTS.map(({ address }): Account => ({ address: bytesOf(address), balance: BALANCE }));
  const provider = await context.createProvider(
    edr.L1_CHAIN_TYPE,
    {
      chainId,
      networkId: chainId,
      hardfork: edr.l1HardforkToString(hardfork),
      genesisState: [...accounts, ...edr.l1GenesisState(hardfork)],
      ownedAccounts: TEST_ACCOUNTS.map(({ privateKey }) => privateKey),
      network: { genesisBlockGasLimit: BLOCK_GAS_LIMIT, genesisBlockTime: BigInt(Math.floor(since.getTime() / 1000)) },
      mining: { autoMine: true, blockGasLimit: BLOCK_GAS_LIMIT, memPool: { order: 'Priority' } },
      coinbase: bytesOf(COINBASE),
      defaultTransactionGasLimit: TRANSACTION_GAS,
      minGasPrice: 0n,
      bailOnCallFailure: true,
      bailOnTransactionFailure: true,
      allowBlocksWithSameTimestamp: false,
      allowUnlimitedContractSize: false,
      observability: {},
      precompileOverrides: [],
    },
    { enable: false, decodeConsoleLogInputsCallback: () => [], printLineCallback() {} },
    { subscriptionCallback() {} },
    new edr.ContractDecoder(),
  );
  return async (method, params) => {
    const { data } = await provider.handleRequest(JSON.stringify({ method, params }));
    const response = (typeof data === 'string' ? JSON.parse(data) : data) as EdrResponse;
    return 'error' in response ? { error: toJsonRpcError(response.error) } : response;
  };
}

/** EDR puts the returned data of a reverted call beside the reason; clients expect it to be `data` itself. */
function toJsonRpcError({ code, message, data }: { code: number; message: string; data?: unknown }): EdrError {
  const { reason, data: returned } = (data ?? {}) as { reason?: unknown; data?: unknown };
  const isRevert = typeof reason === 'object' && reason !== null && 'Revert' in reason;
  return isRevert && typeof returned === 'string' ? { code: REVERTED, message, data: returned } : { code, message };
}

const bytesOf = (hex: string) => Uint8Array.fromHex(hex.slice(2));
