// The page: what a person does on it becomes calls, and their answers are shown.
import { toJsonString } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { GetOrderResponseSchema, OrderStatus, type Order } from "../gen/tare/orders/v1/orders_pb";
import { minorUnits, written } from "./money";
import { dial, protocols, type Orders, type Protocol } from "./service";

const element = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
const field = (form: HTMLFormElement, name: string) => form.elements.namedItem(name) as HTMLInputElement;
const text = (form: HTMLFormElement, name: string) => field(form, name).value;

const service = element<HTMLFormElement>("service");
const order = element<HTMLFormElement>("order");
const table = element<HTMLTableSectionElement>("orders");
const more = element<HTMLButtonElement>("more");

// What is shown of one service in one protocol, until another is chosen.
interface View {
  orders: Orders;
  user: string;
  closed: AbortController;
  pageToken: string;
  revision: bigint; // of the last change that is shown
}

let view: View;

function open() {
  view?.closed.abort();
  table.replaceChildren();
  const orders = dial(text(service, "address"), text(service, "protocol") as Protocol);
  view = { orders, user: text(service, "user"), closed: new AbortController(), pageToken: "", revision: 0n };
  void shown("news", async () => {
    await turn(view);
    await watch(view);
  });
}

// turn shows the next page of orders.
async function turn(v: View) {
  const page = await v.orders.listOrders(
    { pageSize: 20, pageToken: v.pageToken, userName: v.user }, { signal: v.closed.signal });
  page.orders.forEach((o) => show(v, o, false));
  v.pageToken = page.nextPageToken;
  more.hidden = v.pageToken === "";
}

// watch shows changes as they come, from the last that is shown: where the
// stream breaks off, it is taken up again and none is missed.
async function watch(v: View) {
  for (let pause = 500; !v.closed.signal.aborted; pause = Math.min(2 * pause, 30_000)) {
    try {
      say("news", "Watching.");
      const changes = v.orders.watchOrders(
        { afterRevision: v.revision, userName: v.user }, { signal: v.closed.signal, timeoutMs: 0 });
      for await (const change of changes) {
        show(v, change.order!, true);
        pause = 500;
      }
    } catch (reason) {
      const { code, cause } = ConnectError.from(reason);
      if (code !== Code.Unavailable && !(cause instanceof TypeError)) { // which fetch throws for a lost connection
        throw reason;
      }
      say("news", "The service is away; trying again.");
    }
    await new Promise((later) => setTimeout(later, pause * Math.random()));
  }
}

// The ID of the order that the form holds. It stays until that order is taken
// or refused, or the form changes: who gets no answer and asks again orders
// nothing twice.
let orderId = crypto.randomUUID();

async function place() {
  const currencyCode = text(order, "currency");
  const answer = await view.orders.createOrder({
    orderId,
    userName: view.user,
    currencyCode,
    lines: [{
      sku: text(order, "sku"),
      title: text(order, "title"),
      quantity: Number(text(order, "quantity")),
      unitPriceMinor: minorUnits(text(order, "price"), currencyCode),
    }],
  }).catch((reason) => {
    if (ConnectError.from(reason).code === Code.FailedPrecondition) {
      orderId = crypto.randomUUID();
    }
    throw reason;
  });
  orderId = crypto.randomUUID();
  return answer.message;
}

function show(v: View, o: Order, first: boolean) {
  if (v !== view) {
    return; // another has been chosen meanwhile
  }
  v.revision = o.revision > v.revision ? o.revision : v.revision;
  const row = document.createElement("tr");
  row.id = `order-${o.orderId}`;
  row.onclick = () => void shown("detail", async () =>
    toJsonString(GetOrderResponseSchema, await v.orders.getOrder({ orderId: o.orderId }), { prettySpaces: 2 }));
  const accepted = o.createTime ? timestampDate(o.createTime).toLocaleString() : "";
  for (const cell of [o.orderId, OrderStatus[o.status] ?? "", written(o.total), written(o.balance), accepted]) {
    row.insertCell().textContent = cell;
  }
  const old = document.getElementById(row.id);
  if (old) {
    old.replaceWith(row);
  } else {
    table[first ? "prepend" : "append"](row);
  }
}

// shown does something and shows what comes of it: what it says, or why it
// failed.
async function shown(id: string, act: () => Promise<string | void>) {
  say(id, "");
  try {
    const outcome = await act();
    if (outcome !== undefined) {
      say(id, outcome);
    }
  } catch (reason) {
    if (!(reason instanceof ConnectError)) {
      say(id, String(reason), true);
    } else if (reason.code !== Code.Canceled) {
      say(id, `${Code[reason.code]}: ${reason.rawMessage}`, true);
    }
  }
}

function say(id: string, sentence: string, failed = false) {
  element(id).textContent = sentence;
  element(id).toggleAttribute("data-failed", failed);
}

const choice = new URLSearchParams(location.search);
field(service, "address").value = choice.get("address") ?? "http://127.0.0.1:8080";
service.querySelector("select")!.append(...protocols.map((p) => new Option(p)));
service.onchange = () => service.reportValidity() && open();
service.onsubmit = (submitted) => submitted.preventDefault();
order.oninput = () => (orderId = crypto.randomUUID());
order.onsubmit = (submitted) => {
  submitted.preventDefault();
  void shown("outcome", place);
};
more.onclick = () => void shown("outcome", () => turn(view));
open();
