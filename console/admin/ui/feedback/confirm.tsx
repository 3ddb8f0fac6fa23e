import { Button, Modal, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { Failure } from '../../failure.ts';
import { type GraphqlRequest, ShowGraphql } from '../code/show-graphql.tsx';
import { useFirstFocus } from '../forms/first-focus.ts';
import styles from './confirm.module.css';
import { FormError } from './errors.tsx';

interface ConfirmProps {
  opened: boolean;
  title: string;
  /** What is deleted, with counts. */
  children: ReactNode;
  /** Label of the button: "Delete application". */
  verb: string;
  /** Text to type before confirming; absent for reversible actions. */
  name?: string | undefined;
  busy: boolean;
  failure: Failure | undefined;
  /** The equivalent API request, for scripts. */
  graphql?: GraphqlRequest | undefined;
  onConfirm(): void;
  onClose(): void;
}

/** Confirmation dialog for irreversible actions. */
export function Confirm(props: ConfirmProps) {
  const { opened, title, onClose } = props;
  return (
    <Modal opened={opened} onClose={onClose} title={title} closeButtonProps={{ 'aria-label': 'Close' }}>
      {opened && <Question {...props} />}
    </Modal>
  );
}

function Question({ children, verb, name, busy, failure, graphql, onConfirm, onClose }: ConfirmProps) {
  const [typed, setTyped] = useState('');
  const field = useFirstFocus<HTMLInputElement>();
  const isTyped = name === undefined || typed.trim() === name;
  return (
    <form
      className={styles.question}
      onSubmit={(event) => {
        event.preventDefault();
        if (isTyped && !busy) onConfirm();
      }}
    >
      <div className={styles.loss}>{children}</div>
      {name !== undefined && (
        <TextInput
          label={
            <>
              Type <strong className={styles.name}>{name}</strong> to confirm
            </>
          }
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
          ref={field}
          data-autofocus
        />
      )}
      <FormError failure={failure} />
      <div className={styles.actions}>
        {graphql && <ShowGraphql {...graphql} />}
        <Button variant="default" onClick={onClose} {...(name === undefined ? { 'data-autofocus': true } : {})}>
          Cancel
        </Button>
        <Button type="submit" color="red" disabled={!isTyped} loading={busy}>
          {verb}
        </Button>
      </div>
    </form>
  );
}
