// How the order service is reached. Whatever the protocol, its client is the
// same: generated from the schema, and called as a function.
import { createClient, type Client } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import { OrderService } from "../gen/tare/orders/v1/orders_pb";

export type Orders = Client<typeof OrderService>;

// The deadline of each call; it crosses to the service. A call that watches
// asks for none.
const defaultTimeoutMs = 10_000;

const transports = {
  "Connect": (baseUrl: string) => createConnectTransport({ baseUrl, defaultTimeoutMs, useBinaryFormat: true }),
  "Connect, JSON": (baseUrl: string) => createConnectTransport({ baseUrl, defaultTimeoutMs }),
  "gRPC-Web": (baseUrl: string) => createGrpcWebTransport({ baseUrl, defaultTimeoutMs }),
};

export type Protocol = keyof typeof transports;
export const protocols = Object.keys(transports) as Protocol[];

export function dial(address: string, protocol: Protocol): Orders {
  return createClient(OrderService, transports[protocol](address));
}
