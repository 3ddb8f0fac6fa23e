import { Box, Button, Group, Stack } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import type { Failure } from '../../failure.ts';
import { t } from '../../language/language.ts';
import { SecondaryButton } from '../buttons.tsx';
import { ShowGraphql } from '../code/show-graphql.tsx';
import { FormError } from '../feedback/errors.tsx';
import { Facts } from '../lists/facts.tsx';
import { LeaveWarning } from './leave-warning.tsx';
import styles from './save-bar.module.css';
import type { SettingsForm } from './settings-form.ts';

export interface Change {
  label: string;
  before: string | readonly string[];
  after: string | readonly string[];
}

interface SaveBarProps<Values extends object> {
  form: SettingsForm<Values>;
  labels: Record<keyof Values, string>;
  /** A value as text. */
  describe(name: keyof Values, values: Values): string | readonly string[];
  /** Effect of the change. */
  consequence?: ReactNode;
  /** A fault in the input, which prevents saving. */
  isInvalid?: boolean;
}

/** Unsaved changes with a diff and the API request; blocks navigation until saved or discarded. */
export function SaveBar<Values extends object>(props: SaveBarProps<Values>) {
  const { form, labels, describe, consequence, isInvalid = false } = props;
  const changes = form.changed.map((name) => ({
    label: labels[name],
    before: describe(name, form.saved),
    after: describe(name, form.values),
  }));
  const isDirty = changes.length > 0;
  return (
    <>
      {isDirty && (
        <>
          <div>
            <ShowGraphql {...form.request} />
          </div>
          <ChangesBar
            label={t('Unsaved changes')}
            title={t('{count, plural, one {# unsaved change} other {# unsaved changes}}', { count: changes.length })}
            {...{ changes, consequence }}
            failure={form.failure}
          >
            <SecondaryButton onClick={form.discard} disabled={form.busy}>
              {t('Discard')}
            </SecondaryButton>
            <Button onClick={() => (isInvalid ? focusInvalid() : void form.save())} loading={form.busy}>
              {t('Save changes')}
            </Button>
          </ChangesBar>
        </>
      )}
      <LeaveWarning warns={isDirty} text={t('Your changes are not saved.')} />
    </>
  );
}

/** Leads to the first field that must be corrected. */
function focusInvalid() {
  document.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
}

interface ChangesBarProps {
  /** For screen readers. */
  label: string;
  changes: readonly Change[];
  title: string;
  consequence?: ReactNode;
  failure: Failure | undefined;
  /** Buttons. */
  children: ReactNode;
}

/** Bar at the bottom of the window with changes and their buttons. */
export function ChangesBar({ label, changes, title, consequence, failure, children }: ChangesBarProps) {
  const bar = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!bar.current) return;
    const size = new ResizeObserver(([entry]) => entry && uncover(entry.target));
    size.observe(bar.current);
    return () => size.disconnect();
  }, []);
  return (
    <Stack ref={bar} gap="sm" className={styles.bar} role="region" aria-label={label}>
      {consequence && <p>{consequence}</p>}
      <FormError failure={failure} />
      <Group justify="space-between" align="flex-end" gap="lg">
        <Diff changes={changes} title={title} />
        <Group gap="xs" ml="auto">
          {children}
        </Group>
      </Group>
    </Stack>
  );
}

/** Scrolls the focused control out from under the bar (WCAG 2.2, 2.4.11): the bar appears while the admin types. */
function uncover(bar: Element) {
  const focused = document.activeElement;
  if (!focused || focused === document.body || bar.contains(focused)) return;
  const hidden = focused.getBoundingClientRect().bottom - bar.getBoundingClientRect().top;
  if (hidden > 0) window.scrollBy({ top: hidden + 16 });
}

/** Changed values as before and after. */
export function Diff({ changes, title }: { changes: readonly Change[]; title: string }) {
  return (
    <details className={styles.diff} open={changes.length <= 3}>
      <summary>{title}</summary>
      <Box mah="30vh" mt={6} style={{ overflow: 'auto' }}>
        <Facts labelWidth="12rem" facts={changes.map((change) => [change.label, diffOf(change)])} />
      </Box>
    </details>
  );
}

function diffOf({ before, after }: Change): ReactNode {
  if (typeof before === 'string' || typeof after === 'string') {
    return (
      <>
        <del>{before || t('nothing')}</del> <ins>{after || t('nothing')}</ins>
      </>
    );
  }
  const lines = [
    ...before.filter((one) => !after.includes(one)).map((one) => <del key={`-${one}`}>{one}</del>),
    ...after.filter((one) => !before.includes(one)).map((one) => <ins key={`+${one}`}>{one}</ins>),
  ];
  return lines.length > 0 ? lines : t('order changed');
}
