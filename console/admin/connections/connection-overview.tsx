import { ConnectionHealth } from './connection-health.tsx';
import type { ConnectionPartProps } from './connection-part.ts';
import { ConnectionSetup } from './connection-setup.tsx';

/** Health, and the steps of the setup. */
export function ConnectionOverview(props: ConnectionPartProps) {
  const { lastSuccessAt, lastFailureAt, state } = props.connection;
  const hasHealth = state === 'ENABLED' || lastSuccessAt !== null || lastFailureAt !== null;
  return (
    <>
      {hasHealth && <ConnectionHealth connection={props.connection} />}
      <ConnectionSetup {...props} />
    </>
  );
}
