import { Modal, Stack, Text, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { Failure } from '../../failure.ts';
import { rich } from '../../language/rich.tsx';
import { Breakable } from '../breakable.tsx';
import type { GraphqlRequest } from '../code/show-graphql.tsx';
import { DialogForm } from '../forms/dialog-form.tsx';
import { useFirstFocus } from '../forms/first-focus.ts';
import styles from './confirm.module.css';

interface QuestionProps {
  title: string;
  /** The resources that are deleted, with counts. */
  children: ReactNode;
  /** Label of the button: "Delete application". */
  verb: string;
  /** Text to type before confirming; absent for reversible actions. */
  name?: string | undefined;
  /** Nothing is lost: the button is not red. */
  isHarmless?: boolean;
  onClose(): void;
}

interface ConfirmProps extends QuestionProps {
  busy: boolean;
  failure: Failure | undefined;
  /** The equivalent API request, for scripts. */
  graphql?: GraphqlRequest | undefined;
  onConfirm(): void;
}

/** Confirmation dialog. */
export function Confirm(props: ConfirmProps & { opened: boolean }) {
  const { opened, title, onClose } = props;
  return (
    <Modal opened={opened} onClose={onClose} title={title}>
      {opened && <Question {...props} />}
    </Modal>
  );
}

/** The question, and the button that confirms it. */
export function Question(props: ConfirmProps) {
  const { children, verb, name, isHarmless = false, busy, failure, graphql, onConfirm, onClose } = props;
  const [typed, setTyped] = useState('');
  const firstFocus = useFirstFocus<HTMLInputElement>();
  const isTyped = name === undefined || typed.trim() === name;
  return (
    <DialogForm
      {...{ verb, busy, failure, graphql, onClose }}
      {...(!isHarmless && { color: 'red' })}
      disabled={!isTyped}
      onSubmit={onConfirm}
    >
      <Stack gap="sm" className={styles.loss}>
        {children}
      </Stack>
      {name !== undefined && (
        <TextInput
          label={rich('Type <text>{name}</text> to confirm', {
            text: (text) => (
              <Text span ff="monospace" fw={600}>
                <Breakable text={text} />
              </Text>
            ),
            name,
          })}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
          {...firstFocus}
        />
      )}
    </DialogForm>
  );
}
