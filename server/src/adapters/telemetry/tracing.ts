/**
 * OpenTelemetry traces, loaded only if `OTEL_EXPORTER_OTLP_ENDPOINT` is set. A request's span has its route, never its
 * URL: queries hold codes. A statement's span has its first word, never its text: it may hold values.
 */
import type { IncomingMessage, RequestOptions } from 'node:http';
import { context, propagation, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Observer } from '../../http/observer.ts';
import { routeLabel } from '../../http/routes/route.ts';
import type { Tracing } from './trace-port.ts';

export interface TracingOptions {
  /** The collector, e.g. `http://collector:4318`. */
  endpoint: string;
  /** Sampling ratio, 0 to 1, for requests without a sampling decision of their caller. */
  ratio: number;
  version: string;
}

export function startTracing({ endpoint, ratio, version }: TracingOptions): Tracing {
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'latchkey', 'service.version': version }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const contexts = new AsyncLocalStorageContextManager().enable();
  context.setGlobalContextManager(contexts);
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  const tracer = provider.getTracer('latchkey');

  const observe: Observer = (req, res, next) => {
    const parent = propagation.extract(context.active(), onlyText(req.headers));
    const attributes = { 'http.request.method': req.method ?? '' };
    const span = tracer.startSpan(`${req.method}`, { kind: SpanKind.SERVER, attributes }, parent);
    res.once('close', () => {
      // Known since the match.
      const route = routeLabel(req);
      span.updateName(`${req.method} ${route}`);
      span.setAttribute('http.route', route);
      span.setAttribute('http.response.status_code', res.statusCode);
      if (res.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    });
    context.with(trace.setSpan(parent, span), next);
  };

  return {
    observe,
    outgoing(url, work) {
      // Host only: the path may hold a customer's secret.
      const attributes = { 'http.request.method': 'POST', 'server.address': new URL(url).host };
      const span = tracer.startSpan('POST', { kind: SpanKind.CLIENT, attributes });
      const headers: Record<string, string> = {};
      const within = trace.setSpan(context.active(), span);
      propagation.inject(within, headers);
      return ended(
        span,
        context.with(within, () => work(headers)),
      );
    },
    statement(text, run) {
      const operation = /^\s*(\w+)/.exec(text)?.[1]?.toLowerCase() ?? 'statement';
      // No span outside of a request (the watch, the queue).
      if (!trace.getSpan(context.active())) return run();
      const attributes = { 'db.system.name': 'postgresql', 'db.operation.name': operation };
      const span = tracer.startSpan(operation, { kind: SpanKind.CLIENT, attributes });
      return ended(span, run());
    },
    async stop() {
      await provider.shutdown();
      contexts.disable();
      context.disable();
      propagation.disable();
    },
  };
}

function onlyText(headers: IncomingMessage['headers']): Record<string, string> {
  const { traceparent, tracestate } = headers as RequestOptions['headers'] & Record<string, unknown>;
  return {
    ...(typeof traceparent === 'string' && { traceparent }),
    ...(typeof tracestate === 'string' && { tracestate }),
  };
}

function ended<T>(span: Span, work: T): T {
  if (!(work instanceof Promise)) {
    span.end();
    return work;
  }
  work.then(
    () => span.end(),
    () => {
      span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  );
  return work;
}
