import { Button, Modal } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { useBlocker } from 'react-router';
import type { Failure } from '../../failure.ts';
import { FormError } from '../feedback/errors.tsx';
import styles from './save-bar.module.css';

export interface Change {
  label: string;
  before: string | readonly string[];
  after: string | readonly string[];
}

interface SaveBarProps {
  changes: readonly Change[];
  busy: boolean;
  failure: Failure | undefined;
  /** Effect of the change. */
  consequence?: ReactNode;
  onSave(): void;
  onDiscard(): void;
}

/** Bar for unsaved changes, with a diff; blocks navigation until saved or discarded. */
export function SaveBar({ changes, busy, failure, consequence, onSave, onDiscard }: SaveBarProps) {
  const isDirty = changes.length > 0;
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) => isDirty && currentLocation.pathname !== nextLocation.pathname,
  );
  useEffect(() => {
    if (!isDirty) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [isDirty]);
  return (
    <>
      {isDirty && (
        <div className={styles.bar} role="region" aria-label="Unsaved changes">
          <FormError failure={failure} />
          <Diff
            changes={changes}
            title={changes.length === 1 ? '1 unsaved change' : `${changes.length} unsaved changes`}
          />
          {consequence && <p className={styles.consequence}>{consequence}</p>}
          <div className={styles.actions}>
            <Button variant="default" onClick={onDiscard} disabled={busy}>
              Discard
            </Button>
            <Button onClick={onSave} loading={busy}>
              Save changes
            </Button>
          </div>
        </div>
      )}
      <Modal
        opened={blocker.state === 'blocked'}
        onClose={() => blocker.reset?.()}
        title="Leave without saving?"
        size="sm"
      >
        <p>Your changes are not saved.</p>
        <div className={styles.leave}>
          <Button variant="default" onClick={() => blocker.reset?.()} data-autofocus>
            Stay
          </Button>
          <Button color="red" onClick={() => blocker.proceed?.()}>
            Leave
          </Button>
        </div>
      </Modal>
    </>
  );
}

/** Changed values as before and after. */
export function Diff({ changes, title }: { changes: readonly Change[]; title: string }) {
  return (
    <details className={styles.diff} open={changes.length <= 3}>
      <summary>{title}</summary>
      <dl>
        {changes.map((change) => (
          <ChangeLine key={change.label} {...change} />
        ))}
      </dl>
    </details>
  );
}

function ChangeLine({ label, before, after }: Change) {
  if (typeof before !== 'string' && typeof after !== 'string') {
    const lines = [
      ...before.filter((one) => !after.includes(one)).map((one) => <del key={`-${one}`}>{one}</del>),
      ...after.filter((one) => !before.includes(one)).map((one) => <ins key={`+${one}`}>{one}</ins>),
    ];
    return (
      <div>
        <dt>{label}</dt>
        <dd>{lines.length > 0 ? lines : 'order changed'}</dd>
      </div>
    );
  }
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        <del>{before || 'nothing'}</del> <ins>{after || 'nothing'}</ins>
      </dd>
    </div>
  );
}
