// Events as C++ classes in a TTree or an RNTuple, and two questions to them. ACLiC compiles this file.

#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleView.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <TFile.h>
#include <TTree.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

constexpr int kTracks = 3;
constexpr int kFloats = 6; // of a track

struct Kaon {
   double PX, PY, PZ, ProbK, ProbPi, IPChi2;
   int Charge, isMuon;
};

struct DeepEvent {
   double B_FlightDistance, B_VertexChi2;
   std::vector<Kaon> kaons;
};

#define TRACK(NAME)                                                                                     \
   double NAME##_PX, NAME##_PY, NAME##_PZ, NAME##_ProbK, NAME##_ProbPi, NAME##_IPChi2;                  \
   int NAME##_Charge, NAME##_isMuon;

struct FlatEvent {
   double B_FlightDistance, B_VertexChi2;
   TRACK(H1)
   TRACK(H2)
   TRACK(H3)
};

#ifdef __CLING__
#pragma link C++ class Kaon+;
#pragma link C++ class std::vector<Kaon>+;
#pragma link C++ class DeepEvent+;
#pragma link C++ class FlatEvent+;
#endif

struct Found {
   long events = 0;
   double total = 0;
};

// Arrays of shape (2 + 3 * 6, rows) and (3 * 2, rows): the floats of the candidate and of each track, and
// the charge and the flag of each track.
struct Source {
   long rows;
   const double *floats;
   const int *integers;

   double Float(int field, long row) const { return floats[field * rows + row]; }

   Kaon Track(int track, long row) const
   {
      const int first = 2 + track * kFloats;
      return {Float(first, row),     Float(first + 1, row), Float(first + 2, row),
              Float(first + 3, row), Float(first + 4, row), Float(first + 5, row),
              integers[2 * track * rows + row], integers[(2 * track + 1) * rows + row]};
   }

   void Get(long row, DeepEvent &event) const
   {
      event.B_FlightDistance = Float(0, row);
      event.B_VertexChi2 = Float(1, row);
      event.kaons.clear();
      for (int track = 0; track < kTracks; ++track)
         event.kaons.push_back(Track(track, row));
   }

#define SET(NAME, INDEX)                                                                                \
   {                                                                                                    \
      const Kaon kaon = Track(INDEX, row);                                                              \
      event.NAME##_PX = kaon.PX;                                                                        \
      event.NAME##_PY = kaon.PY;                                                                        \
      event.NAME##_PZ = kaon.PZ;                                                                        \
      event.NAME##_ProbK = kaon.ProbK;                                                                  \
      event.NAME##_ProbPi = kaon.ProbPi;                                                                \
      event.NAME##_IPChi2 = kaon.IPChi2;                                                                \
      event.NAME##_Charge = kaon.Charge;                                                                \
      event.NAME##_isMuon = kaon.isMuon;                                                                \
   }

   void Get(long row, FlatEvent &event) const
   {
      event.B_FlightDistance = Float(0, row);
      event.B_VertexChi2 = Float(1, row);
      SET(H1, 0)
      SET(H2, 1)
      SET(H3, 2)
   }
};

#define SUM(NAME)                                                                                       \
   (event.NAME##_PX + event.NAME##_PY + event.NAME##_PZ + event.NAME##_ProbK + event.NAME##_ProbPi +    \
    event.NAME##_Charge)

inline void AddWhole(const FlatEvent &event, Found &found)
{
   if (event.H1_isMuon || event.H2_isMuon || event.H3_isMuon)
      return;
   found.events++;
   found.total += SUM(H1) + SUM(H2) + SUM(H3);
}

inline void AddWhole(const DeepEvent &event, Found &found)
{
   for (const Kaon &kaon : event.kaons)
      if (kaon.isMuon)
         return;
   found.events++;
   for (const Kaon &kaon : event.kaons)
      found.total += kaon.PX + kaon.PY + kaon.PZ + kaon.ProbK + kaon.ProbPi + kaon.Charge;
}

inline void AddSparse(bool is_muon, double px, Found &found)
{
   if (is_muon)
      return;
   found.events++;
   found.total += px;
}

inline void AddSparse(const FlatEvent &event, Found &found)
{
   AddSparse(event.H1_isMuon, event.H1_PX, found);
}

inline void AddSparse(const DeepEvent &event, Found &found)
{
   if (!event.kaons.empty())
      AddSparse(event.kaons[0].isMuon, event.kaons[0].PX, found);
}

template <class Event>
std::vector<std::string> Fields(bool sparse)
{
   const std::vector<std::string> wanted =
      sparse ? std::vector<std::string>{"PX", "isMuon"}
             : std::vector<std::string>{"PX", "PY", "PZ", "ProbK", "ProbPi", "Charge", "isMuon"};
   std::vector<std::string> names;
   const int tracks = std::is_same_v<Event, DeepEvent> || sparse ? 1 : kTracks;
   for (int track = 1; track <= tracks; ++track)
      for (const std::string &field : wanted)
         names.push_back((std::is_same_v<Event, DeepEvent> ? "kaons." : "H" + std::to_string(track) + "_") + field);
   return names;
}

#define VISIT(NAME)                                                                                     \
   visit(#NAME "_PX", event.NAME##_PX);                                                                 \
   visit(#NAME "_PY", event.NAME##_PY);                                                                 \
   visit(#NAME "_PZ", event.NAME##_PZ);                                                                 \
   visit(#NAME "_ProbK", event.NAME##_ProbK);                                                           \
   visit(#NAME "_ProbPi", event.NAME##_ProbPi);                                                         \
   visit(#NAME "_IPChi2", event.NAME##_IPChi2);                                                         \
   visit(#NAME "_Charge", event.NAME##_Charge);                                                         \
   visit(#NAME "_isMuon", event.NAME##_isMuon);

template <class Visit>
void VisitColumns(FlatEvent &event, Visit visit)
{
   visit("B_FlightDistance", event.B_FlightDistance);
   visit("B_VertexChi2", event.B_VertexChi2);
   VISIT(H1)
   VISIT(H2)
   VISIT(H3)
}

template <class Event, class MakeBranches>
void FillTree(const char *path, const Source &source, int setting, MakeBranches make_branches)
{
   TFile file(path, "RECREATE", "", setting);
   TTree tree("events", "events");
   Event event;
   Event *address = &event;
   make_branches(tree, address);
   for (long row = 0; row < source.rows; ++row) {
      source.Get(row, event);
      tree.Fill();
   }
   file.Write();
   tree.ResetBranchAddresses();
   tree.SetDirectory(nullptr);
   if (file.TestBit(TFile::kWriteError))
      throw std::runtime_error("the file could not be written");
}

template <class Event>
void FillObjects(const char *path, const Source &source, int split, int setting)
{
   FillTree<Event>(path, source, setting, [split](TTree &tree, Event *&event) { tree.Branch("event", &event, 32000, split); });
}

void WriteTree(const char *path, bool deep, int split, int setting, long rows, const double *floats, const int *integers)
{
   const Source source{rows, floats, integers};
   deep ? FillObjects<DeepEvent>(path, source, split, setting) : FillObjects<FlatEvent>(path, source, split, setting);
}

// A branch for each member, made by hand: the file has columns, and no class.
void WriteColumns(const char *path, int setting, long rows, const double *floats, const int *integers)
{
   FillTree<FlatEvent>(path, Source{rows, floats, integers}, setting, [](TTree &tree, FlatEvent *event) {
      VisitColumns(*event, [&tree](const char *name, auto &value) { tree.Branch(name, &value); });
   });
}

template <class Event>
Found Scan(TTree &tree, const std::vector<TBranch *> &branches, Event *const &event, bool sparse)
{
   Found found;
   const long rows = tree.GetEntries();
   for (long row = 0; row < rows; ++row) {
      tree.LoadTree(row);
      for (TBranch *branch : branches)
         if (branch->GetEntry(row) < 0)
            throw std::runtime_error("an event could not be read");
      sparse ? AddSparse(*event, found) : AddWhole(*event, found);
   }
   tree.ResetBranchAddresses();
   return found;
}

template <class Event>
Found ScanTree(const char *path, bool sparse, bool is_split)
{
   TFile file(path);
   auto tree = file.Get<TTree>("events");
   Event *event = nullptr;
   tree->SetBranchAddress("event", &event);
   // TTree::GetEntry also visits disabled branches, which takes 0.2 us for an event with 26.
   std::vector<TBranch *> branches{tree->GetBranch("event")};
   if (is_split) {
      branches.clear();
      tree->SetBranchStatus("*", false);
      for (const std::string &name : Fields<Event>(sparse)) {
         tree->SetBranchStatus(name.c_str(), true);
         if (std::is_same_v<Event, FlatEvent>)
            branches.push_back(tree->GetBranch(name.c_str()));
      }
      if (std::is_same_v<Event, DeepEvent>)
         branches.push_back(tree->GetBranch("kaons")); // reads the enabled branches below it
   }
   const Found found = Scan(*tree, branches, event, sparse);
   delete event;
   return found;
}

Found ReadTree(const char *path, bool deep, bool sparse, bool is_split)
{
   return deep ? ScanTree<DeepEvent>(path, sparse, is_split) : ScanTree<FlatEvent>(path, sparse, is_split);
}

Found ReadColumns(const char *path, bool sparse)
{
   TFile file(path);
   auto tree = file.Get<TTree>("events");
   FlatEvent event;
   FlatEvent *address = &event;
   const std::vector<std::string> names = Fields<FlatEvent>(sparse);
   std::vector<TBranch *> branches;
   VisitColumns(event, [&](const char *name, auto &value) {
      if (std::find(names.begin(), names.end(), name) == names.end())
         return;
      tree->SetBranchAddress(name, &value);
      branches.push_back(tree->GetBranch(name));
   });
   return Scan(*tree, branches, address, sparse);
}

template <class Event>
void FillRNTuple(const char *path, const Source &source, int setting)
{
   auto model = ROOT::RNTupleModel::Create();
   auto event = model->MakeField<Event>("event");
   ROOT::RNTupleWriteOptions options;
   options.SetCompression(setting);
   auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "events", path, options);
   for (long row = 0; row < source.rows; ++row) {
      source.Get(row, *event);
      writer->Fill();
   }
}

void WriteRNTuple(const char *path, bool deep, int setting, long rows, const double *floats, const int *integers)
{
   const Source source{rows, floats, integers};
   deep ? FillRNTuple<DeepEvent>(path, source, setting) : FillRNTuple<FlatEvent>(path, source, setting);
}

// Named members, since ACLiC makes a dictionary of each vector here, and views cannot be copied.
struct TrackViews {
   ROOT::RNTupleView<double> px, py, pz, prob_k, prob_pi;
   ROOT::RNTupleView<int> charge, flag;

   TrackViews(ROOT::RNTupleReader &reader, const std::string &prefix)
      : px(reader.GetView<double>(prefix + "PX")), py(reader.GetView<double>(prefix + "PY")),
        pz(reader.GetView<double>(prefix + "PZ")), prob_k(reader.GetView<double>(prefix + "ProbK")),
        prob_pi(reader.GetView<double>(prefix + "ProbPi")), charge(reader.GetView<int>(prefix + "Charge")),
        flag(reader.GetView<int>(prefix + "isMuon"))
   {
   }

   template <class Index>
   double Sum(Index index)
   {
      return px(index) + py(index) + pz(index) + prob_k(index) + prob_pi(index) + charge(index);
   }
};

Found ScanFlatRNTuple(ROOT::RNTupleReader &reader, bool sparse)
{
   Found found;
   if (sparse) {
      auto flag = reader.GetView<int>("event.H1_isMuon");
      auto px = reader.GetView<double>("event.H1_PX");
      for (auto row : reader)
         AddSparse(flag(row), px(row), found);
      return found;
   }
   TrackViews first(reader, "event.H1_"), second(reader, "event.H2_"), third(reader, "event.H3_");
   for (auto row : reader) {
      if (first.flag(row) || second.flag(row) || third.flag(row))
         continue;
      found.events++;
      found.total += first.Sum(row) + second.Sum(row) + third.Sum(row);
   }
   return found;
}

Found ScanDeepRNTuple(ROOT::RNTupleReader &reader, bool sparse)
{
   Found found;
   auto kaons = reader.GetCollectionView("event.kaons");
   if (sparse) {
      auto flag = reader.GetView<int>("event.kaons._0.isMuon");
      auto px = reader.GetView<double>("event.kaons._0.PX");
      for (auto row : reader)
         for (auto index : kaons.GetCollectionRange(row)) {
            AddSparse(flag(index), px(index), found);
            break; // the first kaon
         }
      return found;
   }
   TrackViews views(reader, "event.kaons._0.");
   for (auto row : reader) {
      const auto range = kaons.GetCollectionRange(row);
      bool has_muon = false;
      for (auto index : range)
         has_muon |= views.flag(index) != 0;
      if (has_muon)
         continue;
      found.events++;
      for (auto index : range)
         found.total += views.Sum(index);
   }
   return found;
}

Found ReadRNTuple(const char *path, bool deep, bool sparse)
{
   auto reader = ROOT::RNTupleReader::Open("events", path);
   return deep ? ScanDeepRNTuple(*reader, sparse) : ScanFlatRNTuple(*reader, sparse);
}
