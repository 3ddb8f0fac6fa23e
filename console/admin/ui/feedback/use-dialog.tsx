import { Modal } from '@mantine/core';
import { type ReactNode, Suspense, useState } from 'react';
import { type AnyOperation, useMutation } from '../../api.ts';
import type { Operation } from '../../generated/operations.ts';
import type { GraphqlRequest } from '../code/show-graphql.tsx';
import { Question } from './confirm.tsx';
import { toast } from './toast.tsx';

interface Shown {
  title: string;
  content(close: () => void): ReactNode;
  size: 'md' | 'lg';
}

/** A mutation that the admin confirms first. */
export interface Confirmation {
  title: string;
  /** The changes, and the data that is lost. */
  effect: ReactNode;
  /** Label of the button: "Delete application". */
  verb: string;
  /** Text to type before confirming; absent for reversible actions. */
  name?: string | undefined;
  /** Nothing is lost: the button is not red. */
  isHarmless?: boolean;
  request: GraphqlRequest;
  invalidates: readonly AnyOperation[];
  /** Toast after success. */
  done: string;
  onDone?(): void;
}

/**
 * The dialog of a page, and the functions that open it: `open` shows a form, `confirm` asks before a mutation and stays open
 * if that fails.
 */
export function useDialog() {
  const [shown, show] = useState<Shown>();
  const close = () => show(undefined);
  const open = (title: string, content: Shown['content'], size: Shown['size'] = 'md') => show({ title, content, size });
  const confirm = (confirmation: Confirmation) =>
    open(confirmation.title, (onClose) => <Confirm {...confirmation} onClose={onClose} />);
  const dialog = (
    <Modal opened={shown !== undefined} onClose={close} title={shown?.title} size={shown?.size ?? 'md'}>
      <Suspense>{shown?.content(close)}</Suspense>
    </Modal>
  );
  return [dialog, { open, confirm }] as const;
}

function Confirm(props: Confirmation & { onClose(): void }) {
  const { request, invalidates, done, onDone, onClose } = props;
  const [mutate, busy, failure] = useMutation(request.operation as Operation<unknown, object>, invalidates);
  const run = async () => {
    const { data } = await mutate(request.variables);
    if (!data) return;
    toast(done);
    onClose();
    onDone?.();
  };
  return (
    <Question {...props} {...{ busy, failure }} graphql={request} onConfirm={() => void run()}>
      {props.effect}
    </Question>
  );
}
