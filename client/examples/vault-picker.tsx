// Lets the user of a hot wallet choose the vault to act for.

import { useVaults } from 'delegations-client/react';
import { useId } from 'react';

export interface VaultPickerProps {
  /** The connected hot wallet. */
  readonly wallet: string;
  readonly selected: string | null;
  readonly onSelect: (vault: string) => void;
}

export function VaultPicker({ wallet, selected, onSelect }: VaultPickerProps) {
  const group = useId();
  const vaults = useVaults({ wallet });

  if (vaults.status === 'pending') return <p role="status">Loading vaults…</p>;
  if (vaults.status === 'error')
    return (
      <div role="alert">
        <p>The vaults of this wallet are not known right now: {vaults.error.message}</p>
        <button type="button" onClick={() => vaults.refetch()}>
          Try again
        </button>
      </div>
    );
  if (vaults.data.length === 0) return <p role="status">No vault has delegated to this wallet.</p>;
  return (
    <fieldset>
      <legend>Act for</legend>
      {vaults.data.map(({ vault }) => (
        <label key={vault}>
          <input type="radio" name={group} checked={vault === selected} onChange={() => onSelect(vault)} />
          {vault}
        </label>
      ))}
    </fieldset>
  );
}
