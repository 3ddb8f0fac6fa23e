import { Modal, Stack, Text, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { type AnyOperation, useMutation } from '../../api.ts';
import type { Failure } from '../../failure.ts';
import type { Operation } from '../../generated/operations.ts';
import { rich } from '../../language/rich.tsx';
import { type GraphqlRequest, request } from '../code/show-graphql.tsx';
import { DialogForm } from '../forms/dialog-form.tsx';
import { useFirstFocus } from '../forms/first-focus.ts';
import styles from './confirm.module.css';
import { toast } from './toast.tsx';

interface QuestionProps {
  title: string;
  /** The resources that are deleted, with counts. */
  children: ReactNode;
  /** Label of the button: "Delete application". */
  verb: string;
  /** Text to type before confirming; absent for reversible actions. */
  name?: string | undefined;
  onClose(): void;
}

interface ConfirmProps extends QuestionProps {
  opened: boolean;
  busy: boolean;
  failure: Failure | undefined;
  /** The equivalent API request, for scripts. */
  graphql?: GraphqlRequest | undefined;
  onConfirm(): void;
}

/** Confirmation dialog for irreversible actions. */
export function Confirm(props: ConfirmProps) {
  const { opened, title, onClose } = props;
  return (
    <Modal opened={opened} onClose={onClose} title={title}>
      {opened && <Question {...props} />}
    </Modal>
  );
}

interface ConfirmMutationProps<Data, Variables> extends QuestionProps {
  operation: Operation<Data, Variables>;
  /** Absent: the dialog is closed. */
  variables: Variables | undefined;
  invalidates: readonly AnyOperation[];
  /** Toast after success. */
  done: string;
  onDone?(): void;
}

/** Confirms a mutation and runs it; stays open with the error if it fails. */
export function ConfirmMutation<Data, Variables extends object>(props: ConfirmMutationProps<Data, Variables>) {
  const { operation, variables, invalidates, done, onDone, onClose, ...question } = props;
  const [mutate, busy, failure, reset] = useMutation(operation, invalidates);
  const close = () => {
    reset();
    onClose();
  };
  const run = async () => {
    const outcome = variables && (await mutate(variables));
    if (!outcome?.data) return;
    toast(done);
    close();
    onDone?.();
  };
  return (
    <Confirm
      {...question}
      opened={variables !== undefined}
      busy={busy}
      failure={failure}
      graphql={variables && request(operation, variables)}
      onClose={close}
      onConfirm={() => void run()}
    />
  );
}

function Question({ children, verb, name, busy, failure, graphql, onConfirm, onClose }: ConfirmProps) {
  const [typed, setTyped] = useState('');
  const firstFocus = useFirstFocus<HTMLInputElement>();
  const isTyped = name === undefined || typed.trim() === name;
  return (
    <DialogForm {...{ verb, busy, failure, graphql, onClose }} color="red" disabled={!isTyped} onSubmit={onConfirm}>
      <Stack gap="sm" className={styles.loss}>
        {children}
      </Stack>
      {name !== undefined && (
        <TextInput
          label={rich('Type <text>{name}</text> to confirm', {
            text: (text) => (
              <Text span ff="monospace" fw={600}>
                {text}
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
